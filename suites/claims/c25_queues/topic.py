"""Queues and threads: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
queue = tf.RandomShuffleQueue(
    capacity, min_after_dequeue, dtypes)
runner = tf.train.QueueRunner(
    queue, [enqueue] * threads)
image = queue.dequeue()
image = tf.image.random_flip_left_right(image)
"""

TOPIC = Topic(
    id="C25",
    title="Queues and threads",
    program="FIFO and shuffling queues, several threads that dequeue, random transforms.",
    origin="course slides on TensorFlow 1.x: queues and threads",
    says="One must see to it that a queue is completely filled. Validation data must not leak into training "
    "through a shared queue. Random transforms in several threads must really differ, element by element.",
    post=POST,
    today="A queue gives the right elements whether or not it is full; fullness matters for shuffling. Queues of "
    "one name do share their elements. TensorFlow's random ops differ from element to element; a number "
    "that Python draws in a traced function is a constant.",
    instead="Use tf.data: a dataset for training, another for validation, and random numbers from ops inside map.",
    paste=Path(__file__).with_name("paste.py"),
)
