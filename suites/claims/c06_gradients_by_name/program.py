"""Gradients that are known by the name of an op, in Python and in C++, and in a process of their own."""

import subprocess
import sys
from contextlib import suppress

from tf_opdiff.suites.claims.c06_compiled_op.cpp.build import compiled
from tf_opdiff.suites.claims.c06_gradients_by_name.cpp.build import compiled_not_differentiable


def declare_not_differentiable(tf, name):
    with suppress(KeyError):  # this process has declared it before
        tf.no_gradient(name)


# NoGradient.
def cube_not_differentiable(tf, x):
    library = tf.load_op_library(compiled_not_differentiable(tf))
    declare_not_differentiable(tf, "CubeNotDifferentiable")
    with tf.device("CPU:0"):
        y = library.cube_not_differentiable(x)
    return tf.negative(y)


def square_mapped_to_no_gradient(tf, x):
    declare_not_differentiable(tf, "SquareWithoutGradient")

    @tf.function(autograph=False)
    def squared(x):
        with tf.compat.v1.get_default_graph().gradient_override_map({"Square": "SquareWithoutGradient"}):
            return tf.square(x)

    return squared(x)


def square_declared_not_differentiable(tf, x):
    tf.no_gradient("Square")
    return tf.square(x)


def square_stopped(tf, x):
    return tf.stop_gradient(tf.square(x))


# The gradient of Square in C++.
def square_gradient_in_cpp(tf, x, grad):
    def square(x):
        return tf.square(x)

    function = tf.function(square, autograph=False).get_concrete_function(tf.TensorSpec(x.shape, x.dtype))

    @tf.function(autograph=False)
    def gradient(x, grad):
        return tf.negative(tf.raw_ops.SymbolicGradient(input=[x, grad], Tout=[x.dtype], f=function)[0])

    return gradient(x, grad)


# The gradient of Sqrt, and the op SqrtGrad.
def sqrt_grad(tf, x, grad):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(x)
    return tape.gradient(y, x, grad), tf.raw_ops.SqrtGrad(y=y, dy=grad)


# Another program: it uses the C library of TensorFlow alone, and prints the status of the import.
READER = """
import ctypes, pathlib, sys

folder, *libraries = sys.argv[1:]
tensorflow = ctypes.CDLL(str(next(pathlib.Path(folder).glob("libtensorflow_cc*"))))
for name in ("NewStatus", "NewGraph", "NewBufferFromString", "NewImportGraphDefOptions", "LoadLibrary"):
    getattr(tensorflow, "TF_" + name).restype = ctypes.c_void_p
tensorflow.TF_Message.restype = ctypes.c_char_p
status = ctypes.c_void_p(tensorflow.TF_NewStatus())
for path in libraries:
    tensorflow.TF_LoadLibrary(path.encode(), status)
text = sys.stdin.buffer.read()
graph_def = tensorflow.TF_NewBufferFromString(text, ctypes.c_size_t(len(text)))
graph, options = tensorflow.TF_NewGraph(), tensorflow.TF_NewImportGraphDefOptions()
tensorflow.TF_GraphImportGraphDef(*map(ctypes.c_void_p, (graph, graph_def, options)), status)
print(tensorflow.TF_GetCode(status), tensorflow.TF_Message(status).decode())
"""


def import_in_another_program(tf, graph_def, *libraries):
    """The status of the import there, as an error here."""
    command = [sys.executable, "-c", READER, tf.sysconfig.get_lib(), *libraries]
    ended = subprocess.run(command, input=graph_def.SerializeToString(), capture_output=True, check=True, timeout=60)
    code, _, message = ended.stdout.decode().strip().partition(" ")
    if int(code):
        error = tf.compat.v1.errors.exception_type_from_error_code(int(code))
        raise error(None, None, message.partition(" in binary running on ")[0])


def export_cube(tf, session, x, *libraries):
    library = tf.load_op_library(compiled(tf))
    with session() as s:
        placeholder = tf.compat.v1.placeholder(x.dtype, x.shape)
        y = s.run(library.skip_cube(placeholder), {placeholder: x})
        import_in_another_program(tf, s.graph.as_graph_def(), *libraries)
        return y


def import_without_the_library(tf, session, x):
    return export_cube(tf, session, x)


def import_with_the_library(tf, session, x):
    return export_cube(tf, session, x, compiled(tf))
