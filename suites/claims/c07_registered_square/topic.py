"""Registering a gradient for Square: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
@tf.RegisterGradient("Square")
def _square_grad(op, grad):
    return grad * 2
"""

TOPIC = Topic(
    id="C07",
    title="Registering a gradient for Square",
    program="A gradient registered for the existing op type Square, as 2·g.",
    origin="a post on binarized weights with a straight-through gradient (XNOR-Net, DoReFa-Net)",
    link="https://uoguelph-mlrg.github.io/tensorflow_gradients/",
    says="This is how y = x² gets its gradient: register a function for the op type Square that returns 2·grad.",
    post=POST,
    today="False in two ways. Square has a registered gradient, and a second one is a KeyError. And 2·grad leaves "
    "out x: the derivative of x² is 2·x.",
    instead="Leave Square alone. For a square of your own use tf.custom_gradient, and return 2·x·upstream.",
    paste=Path(__file__).with_name("paste.py"),
)
