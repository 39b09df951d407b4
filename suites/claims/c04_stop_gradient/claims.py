"""stop_gradient in one of two paths: the claims."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.claims.c04_stop_gradient.topic import TOPIC


def two_paths(tf, x):
    h = tf.square(x)
    return h * tf.stop_gradient(h)


def stopped_path(tf, x):
    h = tf.square(x)
    return tf.stop_gradient(h)


def step_by_zeros(tf, x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, control = stopped_path(tf, x), tf.square(x)
    gradient = tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return x - gradient, tape.gradient(control, x)


Floats = partial(Spec, recipes={"plain": plain}, dtypes=FLOATS)

SPECS = (
    Floats(
        name="claim-c04-two-paths",
        program=two_paths,
        reference=lambda x: x**4,
        vjp=lambda g, x: g * 2 * x**3,
        ulp={"output": 2.5, "grad": 2.5},  # 3 roundings each: the last is half an ULP, an earlier one up to a whole
        ops="Square;Mul;StopGradient",
        claims=(
            TOPIC.claim("a", "stop_gradient leaves the forward pass as it is.", "output"),
            TOPIC.claim("b", "stop_gradient stops only the path that goes through it.", "grad"),
        ),
    ),
    Floats(
        name="claim-c04-stopped-path",
        program=stopped_path,
        reference=np.square,
        vjp=lambda g, x: None,
        ulp={"output": 0.5},
        ops="Square;StopGradient",
        claims=(
            TOPIC.claim(
                "c",
                "Where every path is stopped, the gradient is zeros.",
                "grad",
                vjp=lambda g, x: np.zeros_like(x),
                refuted={"*/*": "no path is left, so it is None: zeros are to be asked for as unconnected_gradients"},
                instead="claim-c04-stopped-path-zeros",
            ),
        ),
    ),
    Floats(
        name="claim-c04-stopped-path-zeros",
        program=step_by_zeros,
        reference=lambda x: (x, 2 * x),
        ops="Sub;StopGradient",
        evidence="called:GradientTape;built:StopGradient",
    ),
)
