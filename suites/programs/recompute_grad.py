"""tf.recompute_grad: what is recomputed for the gradient, and how often."""

import contextlib

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.recipes.quarters import MATRIX, PAIR, quarters


def _counted(tf, x):
    return {"v": tf.Variable(x + x.dtype.type(1)), "calls": []}


def _recompute(tf, state, x):
    def f(x):
        state["calls"].append("called")
        return x * state["v"]

    return tf.recompute_grad(f)(x)


def _recompute_after_failed_scan(tf, x):
    """A scan whose function returns another structure than it gets fails while it is traced; then, recompute_grad."""
    with contextlib.suppress(ValueError):
        tf.function(lambda x: tf.scan(lambda total, row: (total, row), x), autograph=False)(x)
    return tf.recompute_grad(lambda x: x * 2)(x)


def _recompute_mask(tf, x, mask):
    return tf.recompute_grad(lambda x, mask: tf.where(mask, -2 * x, 8 * x))(x, mask)


def _recompute_same(tf, x):
    return tf.recompute_grad(lambda x, z: -2 * x + 8 * z)(x, x)


def _recompute_unused(tf, x, z):
    return tf.recompute_grad(lambda x, z: -2 * x)(x, z)


def _recompute_zeros(tf, x, z):
    return tf.recompute_grad(lambda x, z: x * z)(x, z)


def _signed_zeros(draw, dtype):
    return np.array([0.0, -0.0, 1.5], dtype), np.array([1.5, 2.5, 3.5], dtype)


SPECS = (
    Spec(
        name="recompute-after-failed-scan",
        program=_recompute_after_failed_scan,
        reference=lambda x: x * 2,
        vjp=lambda g, x: g * 2,
        recipes=MATRIX,
        ops="Mul",
        evidence="called:scan",
    ),
    Spec(
        name="recompute-counted",
        program=_recompute,
        reference=lambda x: (x * (x + 1), {"calls": 2}),
        vjp=lambda g, x: (g * (x + 1), g * x),
        ulp={"output": 0.5, "grad": 0.5},
        state=_counted,
        recipes=MATRIX,
        ops="Mul",
        dtypes=FLOATS,
    ),
    Spec(
        name="recompute-mask",
        program=_recompute_mask,
        reference=lambda x, mask: np.where(mask, -2 * x, 8 * x),
        vjp=lambda g, x, mask: (np.where(mask, -2 * g, 8 * g), np.zeros_like(mask)),
        recipes={"matrix": lambda draw, dtype: (quarters(draw, dtype, 3, 5), draw.booleans(3, 5))},
        ops="SelectV2",
    ),
    # https://github.com/tensorflow/tensorflow/issues/36999
    Spec(
        name="recompute-same-twice",
        program=_recompute_same,
        reference=lambda x: 6 * x,
        vjp=lambda g, x: 6 * g,
        ulp={"grad": 0.5},
        recipes=MATRIX,
        ops="Mul",
    ),
    Spec(
        name="recompute-signed-zeros",
        program=_recompute_zeros,
        reference=lambda x, z: x * z,
        vjp=lambda g, x, z: (g * z, g * x),
        ulp={"grad": 0.5},
        recipes={"zeros": _signed_zeros},
        ops="Mul",
    ),
    Spec(
        name="recompute-unused",
        program=_recompute_unused,
        reference=lambda x, z: -2 * x,
        vjp=lambda g, x, z: (-2 * g, np.zeros_like(z)),
        recipes=PAIR,
        ops="Mul",
    ),
)
