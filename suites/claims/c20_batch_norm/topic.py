"""The updates of batch normalisation: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
update_ops = tf.get_collection(
    tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(update_ops):
    train_op = optimizer.minimize(loss)
"""

TOPIC = Topic(
    id="C20",
    title="The updates of batch normalisation",
    program="Moving mean and variance assigned in a graph, and collected in UPDATE_OPS.",
    origin="course slides on TensorFlow 1.x: batch normalisation",
    says="The moving mean and variance are updated by ops in the collection UPDATE_OPS, which a train step does "
    "not evaluate. Put control_dependencies on them around minimize, or fetch them beside the train op.",
    post=POST,
    today="True in v1 graphs, if minimize itself stands in the context. The Keras layer updates its averages as "
    "it is called. The fused op averages another variance than it normalises by.",
    instead="Call tf.keras.layers.BatchNormalization with training=True; its averages move with each call.",
    paste=Path(__file__).with_name("paste.py"),
)
