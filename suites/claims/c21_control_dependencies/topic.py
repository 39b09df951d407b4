"""Control dependencies and reads: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
x = tf.Variable(0.0)
x_plus_1 = tf.assign_add(x, 1)
with tf.control_dependencies([x_plus_1]):
    y = x
for i in range(5):
    print(y.eval())
"""

TOPIC = Topic(
    id="C21",
    title="Control dependencies and reads",
    program="x_plus_1 = assign_add(x, 1); under control dependencies on it y = x, y = identity(x) or y = x_plus_1; "
    "y is fetched five times.",
    origin="course slides on TensorFlow 1.x: control dependencies",
    says="x_plus_1 = assign_add(x, 1). Under control dependencies on it, y = x gives zeros only, because that op "
    "was not created inside the context; y = identity(x) and y = x_plus_1 give 1 to 5 in five runs.",
    post=POST,
    today="True in a v1 graph. In eager mode, in tf.function and under XLA a program runs in the order of its "
    "lines, and y = x gives 1 to 5 as well.",
    instead="Write the update before the read inside a tf.function.",
    paste=Path(__file__).with_name("paste.py"),
)
