"""Planted: forward mode of an op whose gradient needs known shapes, for more of them than TensorFlow traces alone."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.spec import Spec

#: TensorFlow traces the forward mode of an op for 32 shapes in a process.
_SHAPES = 34


def _product(tf, x):
    s, u, v = tf.linalg.svd(x)
    return tf.matmul(u * s[None, :], v, transpose_b=True)


def _columns(n, draw, dtype):
    return (np.eye(n, 2, dtype=dtype) * np.array([1, 2], dtype),)


SPECS = (
    Spec(
        name="many-shapes",
        program=_product,
        reference=lambda x: x,
        jvp=lambda t, x: t,
        bound={name: lambda u, g, *xs: np.full(xs[-1].shape, 200 * u) for name in ("output", "jvp")},
        dtypes=("float32",),
        recipes={f"rows{n}": partial(_columns, n) for n in range(2, 2 + _SHAPES)},
        modes=("eager",),
        ops="Svd",
    ),
)
