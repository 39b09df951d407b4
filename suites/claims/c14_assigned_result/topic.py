"""A result that was assigned to: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
def difference(prod, box):
    n, m = prod.shape[1], box.shape[1]
    result = tf.Variable(tf.zeros([n, m], tf.float16))
    for i in tf.range(n):
        for j in tf.range(m):
            volume = tf.reduce_prod(box[:, j])
            result[i, j].assign(
                (volume - tf.reduce_prod(prod[:, i]))
                / volume)
    return result

prod = tf.Variable([[1, 2, 1], [1, 1, 2], [2, 1, 2]],
                   dtype=tf.float16)
box = tf.constant([[2, 4], [2, 2], [2, 1]],
                  dtype=tf.float16)
with tf.GradientTape() as tape:
    result = difference(prod, box)
print(tape.gradient(result, prod))  # None
"""

TOPIC = Topic(
    id="C14",
    title="A result that was assigned to",
    program="difference(prod, box) in float16, its result built by assigning to elements of a variable in loops.",
    origin="an answer on why a gradient is None",
    says="The gradient of difference(prod, box) is None because the result is built by assigning to elements of a "
    "variable in loops. Rewritten with reduce_prod and broadcasting, it has a gradient.",
    restated="The question and the answer, with the numbers of their program,",
    post=POST,
    today="True in eager mode; in a tf.function the code is a ValueError, as it makes a variable in each call. With "
    "a variable from outside, the gradient is None in every mode. It is the assignment that stops the gradient, not "
    "the loops.",
    instead="Compute all elements at once by broadcasting; where a loop is needed, collect its results and stack them.",
    paste=Path(__file__).with_name("paste.py"),
)
