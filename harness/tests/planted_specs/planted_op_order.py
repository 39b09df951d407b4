"""Planted op order: a program whose graph has several functions, which TensorFlow lists in no fixed order."""

import numpy as np

from tf_opdiff.harness.spec.spec import Spec


def program(tf, x):
    """One op in each of several functions, last in the alphabet first."""
    for name in ("rsqrt", "abs", "square", "exp", "sign", "ceil", "log1p", "floor"):
        x = tf.function(lambda x, name=name: getattr(tf.math, name)(x))(x)
    return x


def reference(x):
    """The program in NumPy."""
    return np.floor(np.log1p(np.ceil(np.sign(np.exp(np.square(np.abs(1 / np.sqrt(x))))))))


SPECS = (
    Spec(
        name="op-order",
        program=program,
        reference=reference,
        ops="Floor",
        vjp=None,
        recipes={"plain": lambda draw, dtype: (np.array([1.0, 4.0], dtype),)},
    ),
)
