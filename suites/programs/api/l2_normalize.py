"""Rows that are divided by their norms, also rows of zeros, which have none."""

from dataclasses import replace

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.recipes.rows import SHAPE, plain, rows, scaled, squared
from tf_opdiff.suites.reference.promises.function import wide

_N = SHAPE[1]
#: The number that `tf.math.l2_normalize` takes for a smaller sum of squares.
_EPSILON = 1e-12


@wide
def _normalized(x):
    return x / np.sqrt(np.maximum(np.sum(x * x, axis=1, keepdims=True), _EPSILON))


def _normalized_vjp(g, x):
    """A row below epsilon is divided by a constant."""
    total = np.sum(x * x, axis=1, keepdims=True)
    size = np.maximum(total, _EPSILON)
    along = np.where(total > _EPSILON, np.sum(g * x, axis=1, keepdims=True), 0)
    return (g - x * along / size) / np.sqrt(size)


def _normalized_grad_error(u, g, x):
    size = np.maximum(np.sum(x * x, axis=1, keepdims=True), _EPSILON)
    terms = np.abs(g) + np.abs(x) * np.sum(np.abs(g * x), axis=1, keepdims=True) / size
    return (2 * _N + 20) * u * terms / np.sqrt(size)


_NORMALIZED = Call(
    name="math.l2_normalize",
    program=lambda tf, x: tf.math.l2_normalize(x, axis=1),
    reference=_normalized,
    vjp=_normalized_vjp,
    error=lambda u, x: (_N + 8) * u * np.abs(_normalized(x)),
    grad_error=_normalized_grad_error,
    signed=False,
)
#: Rows: zeros; zeros of both signs; one zero among numbers; equal numbers.
_TIES = rows([0.0], [-0.0, 0.0], [0.0, 3.0, -4.0], [2.0, -2.0])

SPECS = (
    *calls(
        "api-l2-normalize",
        _NORMALIZED,
        recipes={"plain": plain, "ties": _TIES, "small": scaled(-0.2), "zeros": rows([0.0], [0.0], [-0.0], [0.0])},
        ops="Square;Rsqrt",
        dtypes=("float32", "float16"),
        more=("float64",),
    ),
    *calls(
        "api-l2-normalize-squared",
        replace(_NORMALIZED, vjp=None, grad_error=None),
        recipes={"squared": squared},
        ops="Square;Rsqrt",
        dtypes=("float16",),
        more=("float32",),
    ),
)
