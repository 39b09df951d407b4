"""Binarizing with a scale, mended: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.binarization import MEAN, binarized
from tf_opdiff.suites.claims.c09_mended_binarization.topic import TOPIC
from tf_opdiff.suites.claims.evidence import mapped
from tf_opdiff.suites.forms.contracts import TAPE, TAPED, taped


def binarize(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "Identity"}):
        scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
        return tf.sign(x / scale) * scale


def _zeros(draw, dtype):
    return (np.zeros(5, dtype),)


Binarized = partial(Spec, program=binarize, ops="Sign;Mean", evidence=mapped("Sign", "Identity", "built:StopGradient"))

SPECS = (
    Binarized(
        name="claim-c09-binarize",
        reference=binarized,
        vjp=lambda g, x: g,
        ulp={"grad": 1},
        bound=MEAN,
        recipes={"plain": plain},
        dtypes=("float32", "float64"),
        contract=taped(binarized, lambda g, x: np.zeros_like(x)),
        tier="smoke",
        claims=(
            TOPIC.claim("a", "The forward pass is unchanged: it is sign(x) times the mean.", "output"),
            TOPIC.claim(
                "b",
                "The gradient is the upstream, to rounding.",
                "grad",
                refuted=dict.fromkeys(TAPED, f"{TAPE}: sign keeps its own gradient, which is 0"),
                instead="claim-c08-binarize-everywhere",
            ),
            TOPIC.claim(
                "c",
                "The gradient is exactly the upstream.",
                "grad",
                ulp={},
                refuted=dict.fromkeys(TAPED, f"{TAPE}: sign keeps its own gradient, which is 0")
                | {"*/graph": "it is (g·E)/E, rounded twice: E does not cancel to the last bit"},
                instead="claim-c08-binarize-everywhere",
            ),
        ),
    ),
    Binarized(
        name="claim-c09-zeros",
        reference=lambda x: np.full_like(x, np.nan),
        recipes={"zeros": _zeros},
        dtypes=FLOATS,
        claims=(
            TOPIC.claim(
                "d",
                "The forward pass is unchanged where all of x is zero, too.",
                "output",
                reference=binarized,
                refuted={"*/*": "E is 0, and sign(0/0)·0 is NaN, where sign(0)·0 was 0"},
                instead="claim-c08-binarize-everywhere",
            ),
        ),
    ),
)
