"""The gradient of a selection: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
@ops.RegisterGradient("Select")
def _SelectGrad(op, grad):
    c = op.inputs[0]
    x = op.inputs[1]
    zeros = array_ops.zeros_like(x)
    return (None, array_ops.where(c, grad, zeros),
            array_ops.where(c, zeros, grad))
"""

TOPIC = Topic(
    id="C12",
    title="The gradient of a selection",
    program="where(c, x, y), differentiated by all three.",
    origin="an answer on tf.where",
    says="The gradient of where(c, x, y) is the upstream where a side was chosen and zeros where it was not. The "
    "condition gets None. The values of x and y are not used.",
    post=POST,
    today="True in every mode. But what leads to the side that was not chosen is differentiated, too: zeros times "
    "an infinite slope are NaN, so where(x > 0, log(x), 0) has NaN in its gradient at 0. The printed gradient is that "
    "of Select; tf.where is SelectV2 today, which broadcasts, and there it is an error.",
    instead="Replace the inputs that the function cannot take before the function, by another where.",
    paste=Path(__file__).with_name("paste.py"),
)
