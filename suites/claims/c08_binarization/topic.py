"""Binarizing with a scale, the first attempt: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
with g.gradient_override_map({"Sign": "Identity"}):
    E = tf.reduce_mean(tf.abs(x))
    return tf.sign(x) * E
"""

TOPIC = Topic(
    id="C08",
    title="Binarizing with a scale, the first attempt",
    program='sign(x) · mean(|x|) under the map {"Sign": "Identity"}.',
    origin="a post on binarized weights with a straight-through gradient (XNOR-Net, DoReFa-Net)",
    link="https://uoguelph-mlrg.github.io/tensorflow_gradients/",
    says="Binarize by sign(x)·mean(|x|) and map the gradient of Sign to Identity. That is not enough: the backward "
    "pass is still scaled by the mean, and the mean contributes a gradient of its own.",
    post=POST,
    today="True in a v1 graph. In eager mode, in tf.function and under XLA a tape does not see the map, unless the "
    "map is inside a called function, or inside a branch or a loop body of a graph: sign keeps its own gradient, 0, "
    "and only the part of the mean arrives.",
    instead="Give the whole function one gradient by tf.custom_gradient; then neither the scale nor the mean is in it.",
    paste=Path(__file__).with_name("paste.py"),
)
