"""An op in C++: the topic."""

from pathlib import Path

from tf_opdiff.harness.spec.spec import Topic

POST = """\
module = tf.load_op_library("./skip_cube.so")

@tf.RegisterGradient("SkipCube")
def _skip_cube_grad(op, grad):
    return grad
"""

TOPIC = Topic(
    id="C06",
    title="An op in C++",
    program="An op and its kernel in C++, loaded as a library, its gradient registered in Python.",
    origin="an answer on custom ops",
    link="https://www.tensorflow.org/guide/create_op",
    says="Write the op and its kernels for CPU and GPU in C++, compile them to a library, load it with "
    "tf.load_op_library, and register the gradient in Python. TensorFlow need not be rebuilt. Op and "
    "gradient are linked in Python only, by the name of the op. Another program needs the library too. NoGradient "
    "cannot be used outside TensorFlow, and C++ defines no gradients. Ops whose names end in Grad implement the "
    "gradients of other ops. It works on Windows.",
    post=POST,
    today="True in eager mode, in tf.function and in v1 graphs. XLA cannot compile the op without a kernel of its own. "
    "But tf.no_gradient takes any name that has no gradient yet, and C++ does define a gradient of Square. That it "
    "works on Windows cannot be expressed here: all runs are on Linux.",
    instead="If existing ops can compute the forward pass, use tf.custom_gradient: it needs no compiler, and XLA "
    "compiles it. Write C++ where no composition of ops will do.",
    paste=Path(__file__).with_name("paste.py"),
)
