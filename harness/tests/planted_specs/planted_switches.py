"""Specs whose modes differ: by a pass of XLA, by a rewriter of Grappler, by no setting; one fails under a setting."""

import numpy as np

from tf_opdiff.harness.spec.spec import Spec

LARGE = 12582912.0


def _numbers(*numbers):
    return lambda draw, dtype: (np.array(numbers, dtype),)


def _refused_without_fma(tf, x):
    import os

    if "max_isa" in os.environ.get("XLA_FLAGS", ""):
        raise ValueError("not with this setting")
    return x * (1.0 if tf.executing_eagerly() else 2.0)


SPECS = (
    Spec(
        name="log-of-exp",
        ops="Exp",
        program=lambda tf, x: tf.math.log(tf.exp(tf.transpose(x, [1, 0]))),  # takes no element alone
        reference=lambda x: np.log(np.exp(x.T.astype(np.float32))),
        recipes={"large": lambda draw, dtype: (np.array([[1000.0, 1.0]], dtype),)},
        ulp={"output": 8},
        modes=("eager", "xla"),
    ),
    Spec(
        name="two-constants",
        ops="AddV2",
        program=lambda tf, x: (x + LARGE) - LARGE,
        reference=np.round,
        recipes={"halves": _numbers(1.25, -7.75)},
        modes=("eager", "function"),
    ),
    Spec(
        name="another-program-when-traced",
        ops="Mul",
        program=lambda tf, x: x * (1.0 if tf.executing_eagerly() else 2.0),
        reference=lambda x: x,
        recipes={"numbers": _numbers(1.0, 3.0)},
        modes=("eager", "function"),
    ),
    Spec(
        name="refused-under-a-setting",
        ops="Mul",
        program=_refused_without_fma,
        reference=lambda x: x,
        recipes={"numbers": _numbers(1.0, 3.0)},
        modes=("eager", "xla"),
    ),
)
