"""Center loss: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
diff = (centers_batch - features) / (1 + count)
centers_update_op = tf.scatter_sub(
    centers, labels, alpha * diff)
sess.run([train_op, centers_update_op])
"""

TOPIC = Topic(
    id="C22",
    title="Center loss",
    program="Centers moved by scatter_sub with the paper's Δc (count + 1 in the denominator), beside the train op.",
    origin="course slides on TensorFlow 1.x: center loss",
    link="https://ydwen.github.io/papers/WenECCV16.pdf",
    says="The centers are moved by scatter_sub with the paper's Δc, count + 1 in the denominator. This is an "
    "independent op beside the train op: it must be fetched explicitly.",
    post=POST,
    today="True in a v1 graph, where control dependencies around minimize do as well as fetching. In a TensorFlow "
    "2 program the update runs where its line stands.",
    instead="Write the line that moves the centers into the training step.",
    paste=Path(__file__).with_name("paste.py"),
)
