"""The gradient of a conditional: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
z = tf.cond(p, lambda: x * y, lambda: x * z)
tf.gradients(z, [x, y, z])
"""

TOPIC = Topic(
    id="C13",
    title="The gradient of a conditional",
    program="tf.cond, built of Switch and Merge, differentiated by what only one branch uses.",
    origin="an answer on tf.where",
    says="tf.cond is built of Switch and Merge. The branch that is not taken gets a gradient that is switched "
    "off, like None, and not a value.",
    post=POST,
    today="True in eager mode, and inside a branch in a v1 graph. Seen from outside, a graph always gives a "
    "number: zeros come out of the branch not taken. Merge in a loop of TensorFlow 1 has a gradient as well.",
    instead='Do not rely on None. Ask for unconnected_gradients="zero" to get the same number in every mode.',
    paste=Path(__file__).with_name("paste.py"),
)
