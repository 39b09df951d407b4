"""Norms, and clipping by norms."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.recipes.rows import SHAPE, plain, rows, scaled, squared
from tf_opdiff.suites.reference.promises.function import wide

_N = SHAPE[1]
INF, NAN = np.inf, np.nan


def _safe(x):
    return np.where(x == 0, 1, x)


def _vector(order):
    """The norm of every row, and its gradient; at a row of zeros, the subgradient 0."""

    @wide
    def norm(x):
        return np.sum(np.abs(x) ** order, axis=1) ** (1 / np.longdouble(order))

    @wide
    def slope(x):
        y = norm(x)[:, None]
        return np.where(x == 0, 0, np.sign(x) * np.abs(_safe(x) / _safe(y)) ** (order - 1))

    return norm, slope


@wide
def _largest(x):
    return np.max(np.abs(x), axis=1)


def _largest_slope(x):
    """Equal shares for the elements that are largest."""
    at = np.abs(x) == np.asarray(_largest(x), np.float64)[:, None]
    shares = np.where(at, np.sign(x), 0) / np.maximum(np.sum(at, axis=1, keepdims=True), 1)
    return np.where(np.isnan(x).any(axis=1, keepdims=True), np.nan, shares)


def _norm(name, program, pair, units, grad_units):
    norm, slope = pair
    return Call(
        name=name,
        program=program,
        reference=norm,
        vjp=lambda g, x: g[:, None] * slope(x),
        error=lambda u, x: units * u * norm(x),
        grad_error=lambda u, g, x: grad_units * u * np.abs(g[:, None] * slope(x)),
        signed=False,
    )


def _clipped(name, program, size_of, axis=None):
    """Clipping by a norm of the tensor or of each row: x × 4 / max(norm, 4), with `size_of` of the norm as the norm."""

    @wide
    def norm(x):
        return size_of(np.sqrt(np.sum(x * x, axis=axis, keepdims=True)), x.size)

    @wide
    def reference(x):
        return x * 4 / np.maximum(norm(x), 4)

    def vjp(g, x):
        n = norm(x)
        total = np.sum(x * x, axis=axis, keepdims=True)
        along = x * np.sum(g * x, axis=axis, keepdims=True) / np.where(total == 0, 1, total)
        return np.where(n > 4, 4 / np.where(n > 4, n, 1) * (g - along), g)

    def grad_error(u, g, x):
        along = np.abs(x) * np.sum(np.abs(g * x), axis=axis, keepdims=True)
        total = np.sum(x * x, axis=axis, keepdims=True)
        return (
            (x.size + 20) * u * (np.abs(g) + along / np.where(total == 0, 1, total)) * np.minimum(1, 4 / _safe(norm(x)))
        )

    return Call(
        name=name,
        program=program,
        reference=reference,
        vjp=vjp,
        error=lambda u, x: (x.size + 10) * u * np.abs(reference(x)),
        grad_error=grad_error,
        signed=False,
    )


def _of_matrix(name, program, norm, slope):
    """A norm of the whole matrix."""
    return Call(
        name=name,
        program=program,
        reference=norm,
        vjp=lambda g, x: g * slope(x),
        error=lambda u, x: (x.size + 4) * u * norm(x),
        grad_error=lambda u, g, x: (x.size + 8) * u * np.abs(g * slope(x)),
        signed=False,
    )


@wide
def _frobenius(x):
    return np.sqrt(np.sum(x * x))


def _frobenius_slope(x):
    """The subgradient 0 for a matrix of zeros."""
    n = _frobenius(x)
    return x / n if n != 0 else np.zeros(x.shape)


def _largest_sum(axis, largest=np.max):
    """The largest sum of absolute values along an axis, and its gradient; equal sums share it."""

    def norm(x):
        return largest(np.sum(np.abs(x), axis=axis))

    def slope(x):
        sums = np.sum(np.abs(x), axis=axis, keepdims=True)
        most = largest(sums)
        if np.isnan(most):
            return np.full(x.shape, np.nan)
        return np.where((sums == most) | np.isnan(x), np.sign(x), 0) / np.sum(sums == most)

    return norm, slope


def _past_nan():
    """The norms and the gradients of `api-matrix-norm` by the largest sum that is no NaN."""
    sums = {i: _largest_sum(axis, np.nanmax) for i, axis in ((2, 0), (3, 1))}
    return {
        "output": lambda *xs: tuple(sums[i][0](x) if i in sums else None for i, x in enumerate(xs)),
        "grad": lambda gs, *xs: tuple(gs[i] * sums[i][1](x) if i in sums else None for i, x in enumerate(xs)),
    }


_NORM = _norm("norm", lambda tf, x: tf.norm(x, axis=1), _vector(2), _N + 4, _N + 8)
#: Rows: zeros; zeros of both signs; one zero among numbers; equal numbers.
_TIES = rows([0.0], [-0.0, 0.0], [0.0, 3.0, -4.0], [2.0, -2.0])
_SPECIAL = rows([NAN, 1.0], [INF, 1.0], [-INF, 0.0], [0.5, -0.5])

SPECS = (
    *calls(
        "api-norm",
        _NORM,
        _norm("norm", lambda tf, x: tf.norm(x, ord=1, axis=1), _vector(1), _N + 2, 2),
        _norm("linalg.norm", lambda tf, x: tf.linalg.norm(x, ord=3, axis=1), _vector(3), _N + 40, 2 * _N + 80),
        _norm("linalg.norm", lambda tf, x: tf.linalg.norm(x, ord=np.inf, axis=1), (_largest, _largest_slope), 0, 2),
        recipes={
            "plain": plain,
            "ties": _TIES,
            "special": _SPECIAL,
            "huge": scaled(0.6),
            "tiny": scaled(-0.6),
        },
        ops="Sqrt;Sum;Abs;Max",
        more=("float64",),
    ),
    *calls(
        "api-norm-squared",
        _NORM,
        recipes={"squared": squared},
        ops="Sqrt",
        dtypes=("float16",),
        more=("float32",),
    ),
    *calls(
        "api-euclidean-norm",
        _norm(
            "math.reduce_euclidean_norm",
            lambda tf, x: tf.math.reduce_euclidean_norm(x, axis=1),
            _vector(2),
            _N + 4,
            _N + 8,
        ),
        recipes={"plain": plain, "ties": _TIES, "special": _SPECIAL, "huge": scaled(0.6), "tiny": scaled(-0.6)},
        ops="EuclideanNorm",
    ),
    *calls(
        "api-clip-by-norm",
        _clipped("clip_by_norm", lambda tf, x: tf.clip_by_norm(x, 4.0), lambda n, size: n),
        _clipped("clip_by_norm", lambda tf, x: tf.clip_by_norm(x, 4.0, axes=[1]), lambda n, size: n, axis=1),
        _clipped("clip_by_global_norm", lambda tf, x: tf.clip_by_global_norm([x], 4.0)[0][0], lambda n, size: n),
        recipes={"plain": plain, "ties": _TIES, "small": scaled(-0.05), "zeros": rows([0.0], [0.0], [0.0], [0.0])},
        ops="Sqrt",
        more=("float64",),
    ),
    *calls(
        "api-clip-by-average-norm",
        _clipped(
            "compat.v1.clip_by_average_norm",
            lambda tf, x: tf.compat.v1.clip_by_average_norm(x, 0.125),
            lambda n, size: n * 4 / (size * np.longdouble(0.125)),
        ),
        recipes={"plain": plain, "small": scaled(-0.05), "zeros": rows([0.0], [0.0], [0.0], [0.0])},
        ops="Rsqrt",
        dtypes=("float32", "float64"),
    ),
    *calls(
        "api-matrix-norm",
        _of_matrix("norm", lambda tf, x: tf.norm(x), _frobenius, _frobenius_slope),
        _of_matrix("norm", lambda tf, x: tf.norm(x, ord="fro", axis=[0, 1]), _frobenius, _frobenius_slope),
        _of_matrix("linalg.norm", lambda tf, x: tf.linalg.norm(x, ord=1, axis=[0, 1]), *_largest_sum(0)),
        _of_matrix("linalg.norm", lambda tf, x: tf.linalg.norm(x, ord=np.inf, axis=[0, 1]), *_largest_sum(1)),
        recipes={"plain": plain, "zeros": rows([0.0], [0.0], [0.0], [0.0]), "special": _SPECIAL},
        mistaken=_past_nan(),
        ops="Sqrt;Max;Sum",
    ),
    *calls(
        "api-spectral-norm",
        Call(
            name="norm",
            program=lambda tf, x: tf.norm(x, ord=2, axis=[0, 1]),
            reference=lambda x: np.linalg.norm(x, ord=2),
            error=lambda u, x: 40 * u * np.linalg.norm(x),
        ),
        recipes={"plain": plain, "ties": _TIES},
        ops="Svd",
    ),
)
