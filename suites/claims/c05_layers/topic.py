"""Skipping a layer on the way back: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
x = Lambda(a)(x)  # forward: a(x)
# backward: as if a were not there
"""

TOPIC = Topic(
    id="C05",
    title="Skipping a layer on the way back",
    program="A Keras Lambda(a): a runs forward, and is left out of the derivative.",
    origin="answers on leaving a Keras layer out of the derivative",
    says="A Keras Lambda layer cannot have no gradient; at most, its gradient is 0 or 1. To leave a layer out of "
    "the derivative, write an op in C++, or a py_func whose gradient is overridden. NoGradient makes an op "
    "propagate zeros.",
    post=POST,
    today="No op in C++ is needed: tf.custom_gradient gives a layer any gradient. A layer can have no gradient: "
    "that of floor is None. NotDifferentiable gives None, not zeros. py_func with a map leaves the layer "
    "out in a v1 graph only, or inside a tf.function that is called: in a Keras model that is fitted, the weights "
    "before the layer are not trained.",
    instead="Wrap the function of the layer in tf.custom_gradient and return the upstream.",
    paste=Path(__file__).with_name("paste.py"),
)
