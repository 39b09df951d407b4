"""Three uses of tf.identity: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
with tf.control_dependencies([loss_averages_op]):
    total_loss = tf.identity(total_loss)
"""

TOPIC = Topic(
    id="C11",
    title="Three uses of tf.identity",
    program="tf.identity as a straight-through estimator, to move a tensor between devices, and as a node on which to "
    "hang control dependencies, as in the tower loss of the CIFAR-10 tutorial.",
    origin="a post on binarized weights with a straight-through gradient (XNOR-Net, DoReFa-Net)",
    link="https://uoguelph-mlrg.github.io/tensorflow_gradients/",
    says="tf.identity has three uses: as the gradient of a straight-through estimator, to move a tensor to another "
    "device, and as a node on which to hang control dependencies, as in the tower loss of the CIFAR-10 tutorial.",
    post=POST,
    today="All three are true in a v1 graph. The map to Identity and the missing identity matter there only: outside "
    "of v1 graphs a tape does not see the map, unless the map is inside a called function, or inside a branch or a "
    "loop body of a graph, and updates run in the order of the program.",
    instead="For a straight-through estimator write x + stop_gradient(f(x) − x). Inside a tf.function, write updates "
    "in the order in which they shall run.",
    paste=Path(__file__).with_name("paste.py"),
)
