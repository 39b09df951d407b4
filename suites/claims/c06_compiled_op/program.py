"""An op in C++, loaded as a library, its gradient registered in Python."""

from tf_opdiff.suites.claims.c06_compiled_op.cpp.build import compiled
from tf_opdiff.suites.reference.registered import registered


def skip_cube(tf, x):
    library = tf.load_op_library(compiled(tf))
    registered(tf, "SkipCube", lambda op, g: g)
    return library.skip_cube(x)


def cube_without_gradient(tf, x):
    library = tf.load_op_library(compiled(tf))
    return library.cube_without_gradient(x)


def skip_cube_by_custom_gradient(tf, x):
    @tf.custom_gradient
    def skipped(x):
        return x * x * x, lambda g: g

    return skipped(x)
