"""Copying weights: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
copy_op = target.assign(source)
target = tf.Variable(source)
target.load(source.eval(), session)
"""

TOPIC = Topic(
    id="C24",
    title="Copying weights",
    program="Variables copied with assign, with a new tf.Variable, by copying the graph, and with load.",
    origin="course slides on TensorFlow 1.x: copying weights",
    says="Copying a variable by assign, by a new tf.Variable or by copying the graph makes a reference. Only load "
    "makes a deep copy.",
    post=POST,
    today="False: assign and a new variable store the value of that moment, and each variable keeps its own. A copied "
    "graph has variables of its own in each session; contrib's copy_variable_to_graph ran initialized_value() in a "
    "new session, which gave the initial value; resource variables have no initialized_value(). load makes a deep copy "
    "as well.",
    instead="Copy by assign, or by tf.Variable(original). For a reference, use the same Python object.",
    paste=Path(__file__).with_name("paste.py"),
)
