"""Binarizing with a gradient of one's own: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.binarization import MEAN, binarized, scale
from tf_opdiff.suites.claims.c10_clipped_binarization.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CUSTOM_GRADIENT, mapped
from tf_opdiff.suites.forms.contracts import TAPE, TAPED, taped
from tf_opdiff.suites.reference.registered import registered


def binarize_clipped(tf, x):
    registered(tf, "WithinOne", lambda op, g: tf.where(tf.abs(op.inputs[0]) <= 1, g, tf.zeros_like(g)))
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sign": "WithinOne"}):
        scale = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
        return tf.sign(x / scale) * scale


def clipped_everywhere(tf, x):
    @tf.custom_gradient
    def clipped(x):
        scale = tf.reduce_mean(tf.abs(x))
        return tf.sign(x) * scale, lambda g: tf.where(tf.abs(x / scale) <= 1, g, tf.zeros_like(g))

    return clipped(x)


Clipped = partial(
    Spec,
    reference=binarized,
    vjp=lambda g, x: np.where(np.abs(x / scale(x)) <= 1, g, 0),
    bound=MEAN,
    recipes={"plain": plain},
    ops="Sign;Mean",
    dtypes=FLOATS,
)

SPECS = (
    Clipped(
        name="claim-c10-binarize-clipped",
        program=binarize_clipped,
        ulp={"grad": 1},
        evidence=mapped("Sign", "WithinOne", "built:StopGradient"),
        contract=taped(binarized, lambda g, x: np.zeros_like(x)),
        claims=(
            TOPIC.claim(
                "",
                "Any function can be put in the place of Identity.",
                "grad",
                refuted=dict.fromkeys(TAPED, TAPE),
                instead="claim-c10-clipped-everywhere",
            ),
        ),
    ),
    Clipped(
        name="claim-c10-clipped-everywhere",
        program=clipped_everywhere,
        evidence=CUSTOM_GRADIENT,
    ),
)
