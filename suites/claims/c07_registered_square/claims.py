"""Registering a gradient for Square: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.claims.c07_registered_square.topic import TOPIC
from tf_opdiff.suites.claims.evidence import CUSTOM_GRADIENT, mapped
from tf_opdiff.suites.forms.contracts import taped
from tf_opdiff.suites.reference.registered import registered


def _whole(draw, dtype):
    """Small whole numbers, 0, 1 and 2 among them."""
    return (np.resize(np.array([-3, -2, -1, 0, 1, 2, 3, 5, 8]), 67).astype(dtype),)


def register_square(tf, x):
    @tf.RegisterGradient("Square")
    def two(op, g):
        return 2.0 * g

    return tf.square(x)


def square(tf, x):
    return tf.square(x)


def mapped_square(tf, x):
    registered(tf, "TwiceUpstream", lambda op, g: 2.0 * g)
    with tf.compat.v1.get_default_graph().gradient_override_map({"Square": "TwiceUpstream"}):
        return tf.square(x)


def own_square(tf, x):
    @tf.custom_gradient
    def square(x):
        return x * x, lambda g: 2.0 * x * g

    return square(x)


Squared = partial(Spec, reference=np.square, ulp={"grad": 0.5}, recipes={"whole": _whole}, dtypes=FLOATS)

SPECS = (
    Spec(
        name="claim-c07-register-square",
        program=register_square,
        reference=lambda x: Raises("KeyError", "Registering two gradient with name 'Square'!"),
        vjp=lambda g, x: 2 * x * g,
        recipes={"whole": _whole},
        ops="",
        evidence="called:RegisterGradient",
        claims=(
            TOPIC.claim(
                "a",
                "Registering a gradient for Square is how y = x² gets its gradient.",
                "output",
                reference=np.square,
                refuted={"*/*": "Square has a gradient since TensorFlow was built, and a second one is a KeyError"},
                instead="claim-c07-own-square",
            ),
        ),
    ),
    Squared(
        name="claim-c07-mapped-square",
        program=mapped_square,
        vjp=lambda g, x: 2 * g,
        ops="Square",
        evidence=mapped("Square", "TwiceUpstream"),
        contract=taped(np.square, lambda g, x: 2 * x * g),
    ),
    Squared(
        name="claim-c07-square",
        program=square,
        vjp=lambda g, x: 2 * x * g,
        ops="Square",
        claims=(
            TOPIC.claim(
                "b",
                "2·g is the gradient of x².",
                "grad",
                vjp=lambda g, x: 2 * g,
                refuted={"*/*": "d(x²)/dx = 2·x: the chain rule gives 2·x·g, and 2·g leaves out x"},
                instead="claim-c07-own-square",
            ),
        ),
    ),
    Squared(
        name="claim-c07-own-square",
        program=own_square,
        vjp=lambda g, x: 2 * x * g,
        ops="Mul",
        evidence=CUSTOM_GRADIENT,
    ),
)
