"""An addition that a Python function takes over: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
@tf.RegisterGradient("AddGradient123")
def add_grad(op, grad):  # "grad is dL/da"
    c, k, d = op.inputs
    e = c + k
    return (e + d) * grad, d * grad, e * grad

with g.gradient_override_map(
        {"PyFunc": "AddGradient123"}):
    e = tf.py_func(add, [c, k, d], [tf.float32])[0]
a = tf.multiply(d, e)
"""

TOPIC = Topic(
    id="C01",
    title="Replacing an addition by a Python function",
    program="A two-class net: d = x + c, e = c + k, a = d·e, softmax cross-entropy, Adam. e is replaced by a py_func "
    "of (c, k, d) that computes c + k, and its gradient is overridden to return ((e+d)·g, d·g, e·g).",
    origin="a post on overriding back-propagation in TensorFlow",
    link="https://medium.com/datadriveninvestor/override-tensorflow-backward-propagation-1a7e2bb3f516",
    says="Replace an op by a Python function and give it your own gradient: register the gradient under a unique name "
    "and map PyFunc to it. grad is ∂L/∂a, so the gradient returns ((e+d)·grad, d·grad, e·grad) for c, k and d. The "
    "outputs are compared, and the result is the same as with tf.add.",
    post=POST,
    today="The loss is the same at first; the gradients are not, and after 200 steps the loss is not either. A "
    "registered gradient gets ∂L/∂e, not ∂L/∂a, so the formula multiplies by the rest of the chain rule a second "
    "time. In eager mode and in tf.function a tape does not see the map, unless the map is inside a called function, "
    "or inside a branch or a loop body of a graph. A map of PyFunc never reaches py_func with stateful=False, which "
    "is another op. A random number in the name of a gradient does not make it unique: of 11,774 names, two are equal "
    "with a probability of 50 %, and under a fixed seed the second use of the name is an error.",
    instead="Use tf.custom_gradient. Its gradient function gets the upstream of the function's own result and returns "
    "one gradient for each input: here the upstream itself, twice.",
    paste=Path(__file__).with_name("paste.py"),
)
