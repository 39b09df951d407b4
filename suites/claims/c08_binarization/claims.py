"""Binarizing with a scale, the first attempt: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.binarization import MEAN, binarized, scale
from tf_opdiff.suites.claims.c08_binarization.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CUSTOM_GRADIENT, mapped
from tf_opdiff.suites.forms.contracts import TAPE, TAPED, taped


def scaled_sign(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "Identity"}):
        return tf.sign(x) * tf.stop_gradient(tf.reduce_mean(tf.abs(x)))


def binarize_naively(tf, x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "Identity"}):
        return tf.sign(x) * tf.reduce_mean(tf.abs(x))


def binarize_everywhere(tf, x):
    @tf.custom_gradient
    def straight_through(x):
        return tf.sign(x) * tf.reduce_mean(tf.abs(x)), lambda g: tf.identity(g)

    return straight_through(x)


def _by_mean(g, x):
    """The part of the gradient that goes through the mean."""
    return np.sum(g * np.sign(x)) * np.sign(x) / x.size


def _few(draw, dtype):
    """A few numbers: the mean's part of the gradient is then a large one."""
    return (draw.values(dtype, 9),)


NAIVE = {"grad": lambda u, g, x: (x.size + 6) * u * (np.abs(g) * scale(x) + np.sum(np.abs(g)) / x.size)}

Binarized = partial(Spec, reference=binarized, recipes={"few": _few}, ops="Sign;Mean", dtypes=FLOATS)

SPECS = (
    Binarized(
        name="claim-c08-scaled-sign",
        program=scaled_sign,
        vjp=lambda g, x: g * scale(x),
        bound=MEAN | {"grad": lambda u, g, x: (x.size + 2) * u * np.abs(g) * scale(x)},
        evidence=mapped("Sign", "Identity", "built:StopGradient"),
        contract=taped(binarized, lambda g, x: np.zeros_like(x)),
        claims=(
            TOPIC.claim(
                "a",
                "The backward pass is still scaled by the mean.",
                "grad",
                refuted=dict.fromkeys(TAPED, f"{TAPE}: sign keeps its own gradient, which is 0"),
                instead="claim-c08-binarize-everywhere",
            ),
        ),
    ),
    Binarized(
        name="claim-c08-binarize-naive",
        program=binarize_naively,
        vjp=lambda g, x: g * scale(x) + _by_mean(g, x),
        bound=MEAN | NAIVE,
        evidence=mapped("Sign", "Identity"),
        contract=taped(binarized, lambda g, x: _by_mean(g, x)),
        claims=(
            TOPIC.claim(
                "b",
                "The mean contributes a gradient of its own.",
                "grad",
                vjp=lambda g, x: g * scale(x),
                denies=True,
                instead="claim-c08-binarize-everywhere",
            ),
        ),
    ),
    Binarized(
        name="claim-c08-binarize-everywhere",
        program=binarize_everywhere,
        vjp=lambda g, x: g,
        bound=MEAN,
        evidence=CUSTOM_GRADIENT,
    ),
)
