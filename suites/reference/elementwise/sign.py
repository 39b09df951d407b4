"""References of sign."""

import numpy as np


def real_sign(x: np.ndarray) -> np.ndarray:
    """+0 for either zero, as the documentation has it: "0 if x == 0"."""
    return np.where(np.isnan(x), x, np.sign(x) + 0.0)


def zero_kept(x: np.ndarray) -> np.ndarray:
    """The sign of x; for a zero, that zero with its sign."""
    return np.where(x == 0, x, real_sign(x))


def complex_sign(z: np.ndarray) -> np.ndarray:
    """z / |z|, and 0 for 0: https://www.tensorflow.org/api_docs/python/tf/math/sign; hypot does not underflow."""
    size = np.abs(z)
    return np.where(z == 0, 0, z / np.where(size == 0, 1, size))


def complex_vjp(g: np.ndarray, z: np.ndarray) -> np.ndarray:
    """(g - s² conj(g)) / 2|z| with s = z / |z|: the part of g along the unit circle; 0 at 0.

    TensorFlow's VJP of f is conj(∂f/∂z) g + (∂f/∂z̄) conj(g), https://github.com/tensorflow/tensorflow/issues/3348.
    """
    s, size = complex_sign(z), np.abs(z)
    return np.where(z == 0, 0, (g - s * s * np.conj(g)) / (2 * np.where(size == 0, 1, size)))
