"""Python functions under the answer's rules, kept and broken."""

import gc
import subprocess
import sys

import numpy as np

from tf_opdiff.suites.reference.registered import registered


def mapped(tf, gradient, function, *inputs):
    @tf.function(autograph=False)
    def called(*inputs):
        gradient_map = {"PyFunc": gradient}
        with tf.compat.v1.get_default_graph().gradient_override_map(gradient_map), tf.device("CPU:0"):
            y = tf.compat.v1.py_func(function, list(inputs), inputs[0].dtype)
        return tf.negative(tf.ensure_shape(y, inputs[0].shape))

    return called(*inputs)


# The gradient of a square, with NumPy.
def square(x):
    return np.square(x)


def gradient_by_numpy(op, grad):
    return grad * np.multiply(2, op.inputs[0])


def numpy_in_gradient(tf, x):
    registered(tf, "SquareGradientByNumPy", gradient_by_numpy)
    return mapped(tf, "SquareGradientByNumPy", square, x)


def numpy_in_py_func_in_gradient(tf, x):
    def gradient(op, grad):
        (x,) = op.inputs
        with tf.device("CPU:0"):
            slope = tf.compat.v1.py_func(lambda x: np.multiply(2, x), [x], x.dtype)
        return grad * tf.ensure_shape(slope, x.shape)

    registered(tf, "SquareGradientByPyFunc", gradient)
    return mapped(tf, "SquareGradientByPyFunc", square, x)


# A gradient for each input.
def multiply_add(x, y, z):
    return x * y + z


def two_gradients(op, grad):
    x, y, _ = op.inputs
    return grad * y, grad * x


def two_of_three(tf, x, y, z):
    registered(tf, "TwoOfThree", two_gradients)
    return mapped(tf, "TwoOfThree", multiply_add, x, y, z)


def gradients_and_none(op, grad):
    x, y, _ = op.inputs
    return grad * y, grad * x, None


def none_for_the_third(tf, x, y, z):
    registered(tf, "NoneForTheThird", gradients_and_none)
    return mapped(tf, "NoneForTheThird", multiply_add, x, y, z)


# The dtype of the result.
def wide_square(x):
    return np.square(x, dtype=np.float64)


def float64_for_float32(tf, x):
    with tf.device("CPU:0"):
        y = tf.compat.v1.py_func(wide_square, [x], tf.float32)
    return tf.negative(tf.ensure_shape(y, x.shape))


def cast_square(x):
    return wide_square(x).astype(np.float32)


def float32_for_float32(tf, x):
    with tf.device("CPU:0"):
        y = tf.compat.v1.py_func(cast_square, [x], tf.float32)
    return tf.cast(tf.negative(tf.ensure_shape(y, x.shape)), tf.float64)


# Serialised.
def exported(tf, shape):
    def inner_square(x):
        return np.square(x)

    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, shape, name="x")
        with tf.device("CPU:0"):
            tf.compat.v1.py_func(inner_square, [x], tf.float32, name="y")
        return graph, graph.as_graph_def().SerializeToString()


def run_imported(tf, session, text, x):
    graph_def = tf.compat.v1.GraphDef()
    graph_def.ParseFromString(text)
    with session() as s:
        (y,) = tf.graph_util.import_graph_def(graph_def, return_elements=["y:0"], name="imported")
        return s.run(tf.negative(y), {"imported/x:0": x})


def imported_beside_its_graph(tf, session, x):
    graph, text = exported(tf, x.shape)
    result = run_imported(tf, session, text, x)
    assert graph.get_operations()
    return result


def imported_without_its_graph(tf, session, x):
    text = exported(tf, x.shape)[1]
    gc.collect()
    return run_imported(tf, session, text, x)


# Another process: it imports the graph, runs it on ones, and prints the status.
READER = """
import sys

import numpy as np
import tensorflow as tf

graph_def = tf.compat.v1.GraphDef()
graph_def.ParseFromString(sys.stdin.buffer.read())
with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
    (y,) = tf.graph_util.import_graph_def(graph_def, return_elements=["y:0"], name="imported")
    try:
        session.run(y, {"imported/x:0": np.ones(int(sys.argv[1]), "f")})
        print(0)
    except tf.errors.OpError as error:
        print(error.error_code, " ".join(error.message.split()))
"""


def imported_in_another_process(tf, session, x):
    graph, text = exported(tf, x.shape)
    result = run_imported(tf, session, text, x)
    assert graph.get_operations()
    command = [sys.executable, "-c", READER, str(x.size)]
    ended = subprocess.run(command, input=text, capture_output=True, check=True)
    code, _, message = ended.stdout.decode().strip().partition(" ")
    if int(code):
        raise tf.compat.v1.errors.exception_type_from_error_code(int(code))(None, None, message)
    return result
