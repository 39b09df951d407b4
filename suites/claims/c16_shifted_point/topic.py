"""A gradient at a shifted point: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
b = f(a)
g0 = tf.gradients(b, a)
g1 = tf.gradients(b, a + delta)  # None
# "hessian_norm", delta ~ N(0, I), is 1/M times the
# sum over M of these, in which f is built again:
above = tf.gradients(f(a + delta), a)[0]
below = tf.gradients(f(a - delta), a)[0]
estimate = above - below / (2 * delta)
"""

TOPIC = Topic(
    id="C16",
    title="A gradient at a shifted point",
    program="b = f(a), then tf.gradients(b, a + delta).",
    origin="a post that asks for gradients at shifted weights, to estimate the norm of a Hessian, and an answer",
    link="https://github.com/tensorflow/tensorflow/issues/13462",
    says="tf.gradients(b, a + delta) is None, because b does not depend on that sum. Build f again at the "
    "shifted point, or move the variable, and the difference of the two gradients estimates the norm of the "
    "Hessian.",
    restated="The formula was read in the post. The question with b = f(a) that the post links, and its answer,",
    post=POST,
    today="The gradient is None in every mode, and both repairs give the difference of the gradients. For a small "
    "delta, it says how much the Hessian stretches delta, which is not the norm of the Hessian. The printed formula "
    "lacks the parentheses around the difference and gives other numbers. With them, the difference divided element by "
    "element by a random delta has no mean unless the Hessian is diagonal. Half of the difference, multiplied by "
    "delta, has a mean: the Hessian's diagonal, if f is a polynomial of at most the third degree.",
    instead="Take the Hessian, or its product with a direction, from a tape inside a tape.",
    paste=Path(__file__).with_name("paste.py"),
)
