"""stop_gradient in one of two paths: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
y = f(x) + tf.stop_gradient(g(x))
"""

TOPIC = Topic(
    id="C04",
    title="stop_gradient in one of two paths",
    program="A value that reaches the loss by two paths, one of them through tf.stop_gradient.",
    origin="a post on tf.stop_gradient",
    says="tf.stop_gradient in one of two paths stops the gradient of that path only, and leaves the forward pass "
    "as it is.",
    post=POST,
    today="True in every mode. Where every path is stopped, the gradient is None, not zeros.",
    instead="Use tf.stop_gradient as the post does. If every path may be stopped, ask for "
    'unconnected_gradients="zero".',
    paste=Path(__file__).with_name("paste.py"),
)
