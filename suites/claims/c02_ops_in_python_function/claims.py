"""TensorFlow ops inside a Python function: the claims."""

from functools import partial

from tf_opdiff.harness.spec.claim import TRUE_THEN
from tf_opdiff.harness.spec.inputs.recipes import FLOATS, plain
from tf_opdiff.harness.spec.plan import PLANS_WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.claims.c02_ops_in_python_function.topic import TOPIC
from tf_opdiff.suites.claims.evidence import by_py_func, by_py_function
from tf_opdiff.suites.forms.contracts import REFUSED_BY_XLA

EAGER = "executed eagerly, the function is called there and then, and its result converted: there is no op"
EAGER_LINK = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/ops/script_ops.py"


def squared(tf, call, x):
    def square(array):
        return tf.square(array)

    with tf.device("CPU:0"):
        y = call(square, [x], x.dtype)
    return -tf.ensure_shape(y, x.shape)


def square_in_py_func(tf, x):
    return squared(tf, tf.compat.v1.py_func, x)


def square_in_py_function(tf, x):
    return squared(tf, tf.py_function, x)


def times_outer_tensor(tf, x, scale):
    doubled = 2 * scale

    def multiply(array):
        return tf.multiply(doubled, array)

    with tf.device("CPU:0"):
        y = tf.compat.v1.py_func(multiply, [x], x.dtype)
    return -tf.ensure_shape(y, x.shape)


def times_passed_tensor(tf, x, scale):
    doubled = 2 * scale

    def multiply(x, doubled):
        return tf.multiply(doubled, x)

    with tf.device("CPU:0"):
        y = tf.py_function(multiply, [x, doubled], x.dtype)
    return -tf.ensure_shape(y, x.shape)


def square_added_to_a_graph(tf, x):
    def square(array):
        with tf.Graph().as_default():
            return tf.square(array)

    with tf.device("CPU:0"):
        y = tf.compat.v1.py_func(square, [x], x.dtype)
    return -tf.ensure_shape(y, x.shape)


def _minus_square(x):
    return -(x * x)


def _scaled(x, scale):
    return -(2 * scale * x)


def _two(draw, dtype):
    return draw.values(dtype, 67), draw.values(dtype, 67)


Squared = partial(
    Spec, reference=_minus_square, recipes={"plain": plain}, ops="Neg", dtypes=FLOATS, contract=REFUSED_BY_XLA
)
Two = partial(Spec, ulp={"output": 0.5, "grad": 0.5}, recipes={"two": _two}, ops="Neg")

SPECS = (
    Squared(
        name="claim-c02-square-in-py-func",
        program=square_in_py_func,
        vjp=lambda g, x: None,
        ulp={"output": 0.5},
        evidence=by_py_func("called:square"),
        claims=(
            TOPIC.claim(
                "a",
                "TensorFlow ops inside the function that is handed to py_func fail.",
                "output",
                denies=True,
                plans=PLANS_WITHOUT_XLA,
                refuted={"*/*": "the function runs eagerly, its ops with it, and the result is converted to an array"},
                words={"*/*": TRUE_THEN},  # C02d shows it: in TensorFlow 1, all ops were added to a graph
                instead="claim-c02-square-in-py-function",
            ),
            TOPIC.claim(
                "b",
                "Where they work, the gradient goes through them.",
                "grad",
                vjp=lambda g, x: -2 * x * g,
                plans=PLANS_WITHOUT_XLA,
                refuted={"*/*": "what goes in and comes out are NumPy arrays, and py_func has no gradient: it is None"},
                instead="claim-c02-square-in-py-function",
            ),
        ),
    ),
    Squared(
        name="claim-c02-square-in-py-function",
        program=square_in_py_function,
        vjp=lambda g, x: -2 * x * g,
        ulp={"output": 0.5, "grad": 0.5},
        evidence=by_py_function("called:square"),
    ),
    Two(
        name="claim-c02-times-outer-tensor",
        program=times_outer_tensor,
        reference=lambda x, scale: Raises("INVALID_ARGUMENT", "is out of scope and cannot be used here"),
        evidence=by_py_func("called:multiply"),
        contract=REFUSED_BY_XLA
        | {"*/eager": Side(reference=_scaled, vjp=lambda g, x, scale: (None, -2 * x * g), why=EAGER, link=EAGER_LINK)},
        claims=(
            TOPIC.claim(
                "c",
                "They fail where they use a tensor from outside that was not passed to the function.",
                "output",
                reference=_scaled,
                denies=True,
                plans=PLANS_WITHOUT_XLA,
                refuted={"*/eager": "executed eagerly, a tensor is a value, and may be used anywhere"},
                instead="claim-c02-times-passed-tensor",
            ),
        ),
    ),
    Two(
        name="claim-c02-times-passed-tensor",
        program=times_passed_tensor,
        reference=_scaled,
        vjp=lambda g, x, scale: (-2 * scale * g, -2 * x * g),
        evidence=by_py_function("called:multiply"),
        contract=REFUSED_BY_XLA,
    ),
    Spec(
        name="claim-c02-square-added-to-a-graph",
        program=square_added_to_a_graph,
        reference=lambda x: Raises("UNIMPLEMENTED", "Cannot convert a symbolic tf.Tensor"),
        recipes={"plain": plain},
        ops="Neg",
        evidence=by_py_func("called:square", "called:Graph"),
        contract=REFUSED_BY_XLA
        | {
            "*/eager": Side(
                reference=lambda x: Raises("TypeError", "is out of scope and cannot be used here"),
                why=EAGER,
                link=EAGER_LINK,
            )
        },
        claims=(
            TOPIC.claim(
                "d",
                "They fail where they are added to a graph instead of run, as all were in TensorFlow 1.",
                "output",
                reference=_minus_square,
                denies=True,
                plans=PLANS_WITHOUT_XLA,
            ),
        ),
    ),
)
