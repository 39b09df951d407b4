"""Binarizing with a gradient of one's own: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
@tf.RegisterGradient("WithinOne")
def _within_one(op, grad):
    inside = tf.abs(op.inputs[0]) <= 1
    return tf.where(inside, grad, tf.zeros_like(grad))

with g.gradient_override_map({"Sign": "WithinOne"}):
    ...
"""

TOPIC = Topic(
    id="C10",
    title="Binarizing with a gradient of one's own",
    program="The same, with a gradient that was registered under a name of one's own in place of Identity.",
    origin="a post on binarized weights with a straight-through gradient (XNOR-Net, DoReFa-Net)",
    link="https://uoguelph-mlrg.github.io/tensorflow_gradients/",
    says="Any function can be put in the place of Identity: register a gradient under a name of your own and map Sign "
    "to it.",
    post=POST,
    today="True in a v1 graph. In eager mode, in tf.function and under XLA a tape does not see the map, unless the "
    "map is inside a called function, or inside a branch or a loop body of a graph.",
    instead="Return that function as the gradient of a tf.custom_gradient.",
    paste=Path(__file__).with_name("paste.py"),
)
