"""Binarizing with a scale, mended: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
with g.gradient_override_map({"Sign": "Identity"}):
    E = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
    return tf.sign(x / E) * E
"""

TOPIC = Topic(
    id="C09",
    title="Binarizing with a scale, mended",
    program='E = stop_gradient(mean(|x|)), then sign(x/E) · E under the map {"Sign": "Identity"}.',
    origin="a post on binarized weights with a straight-through gradient (XNOR-Net, DoReFa-Net)",
    link="https://arxiv.org/abs/1606.06160",
    says="Divide by the scale first: with E = stop_gradient(mean(|x|)), sign(x/E)·E under the same map leaves the "
    "forward pass as it was, and the gradient is exactly the upstream.",
    post=POST,
    today="The forward pass is unchanged, except that zeros only give NaN. In a v1 graph the gradient is the upstream "
    "up to rounding, not exactly: it is multiplied by E and divided by E. In eager mode, in tf.function and under XLA "
    "a tape does not see the map, unless the map is inside a called function, or inside a branch or a loop body of a "
    "graph, and the gradient is 0.",
    instead="Give the whole function the gradient by tf.custom_gradient. It is exact, and zeros stay zeros.",
    paste=Path(__file__).with_name("paste.py"),
)
