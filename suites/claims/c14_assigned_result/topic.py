"""A result that was assigned to: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
result = tf.Variable(tf.zeros([n, m], tf.float16))
for i in tf.range(n):
    for j in tf.range(m):
        result = result[i, j].assign(
            (box_vol[j] - prod_vol[i]) / box_vol[j])
"""

TOPIC = Topic(
    id="C14",
    title="A result that was assigned to",
    program="difference(prod, box) in float16, its result built by assigning to elements of a variable in loops.",
    origin="an answer on why a gradient is None",
    says="The gradient of difference(prod, box) is None because the result is built by assigning to elements of "
    "a variable in loops. Rewritten with reduce_prod and broadcasting, it has a gradient.",
    post=POST,
    today="True in every mode. It is the assignment that stops the gradient, not the loops.",
    instead="Compute all elements at once by broadcasting; where a loop is needed, collect its results and stack them.",
    paste=Path(__file__).with_name("paste.py"),
)
