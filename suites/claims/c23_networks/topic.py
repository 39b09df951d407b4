"""Several networks: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
g1, g2 = tf.Graph(), tf.Graph()
sess1 = tf.Session(graph=g1)
sess2 = tf.Session(graph=g2)
"""

TOPIC = Topic(
    id="C23",
    title="Several networks",
    program="Two networks trained in turn, as in a GAN, and SGAN: local pairs and a global pair of networks.",
    origin="course slides on TensorFlow 1.x: several networks (SGAN)",
    link="https://arxiv.org/abs/1712.02330",
    says="Two networks that are trained in turn cannot be in the same graph. Use a graph and a session for each.",
    post=POST,
    today="The first sentence is false: one graph, or one tf.function, trains both, if each minimize names its "
    "own variables. A graph and a session each work, too.",
    instead="Write both steps in one program: a tape for each loss, and the gradient by its own network's variables.",
    paste=Path(__file__).with_name("paste.py"),
)
