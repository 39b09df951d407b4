"""Reductions of the rows of a matrix that Python composes of several ops."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.recipes.rows import SHAPE, offset, plain, rows, squared
from tf_opdiff.suites.reference.promises.function import wide

_N = SHAPE[1]
INF, NAN = np.inf, np.nan


def _column(g):
    return np.asarray(g)[..., None]


@wide
def _variance(x):
    return np.mean((x - np.mean(x, axis=1, keepdims=True)) ** 2, axis=1)


@wide
def _deviation(x):
    return x - np.mean(x, axis=1, keepdims=True)


def _variance_error(u, x):
    """The mean is off by n u mean|x|; only the square of that error is left in the variance."""
    off = (_N + 4) * u * np.mean(np.abs(x), axis=1)
    return (_N + 10) * u * _variance(x) + off * off


def _edge_variance(x):
    """The variance, and its root, of rows without elements, with one element, and with infinities."""
    finite = np.isfinite(np.sum(x, axis=1)) & bool(x.shape[1])
    return np.where(finite, 0, np.nan)


def _mean_error(u, x):
    return (_N + 2) * u * np.mean(np.abs(x), axis=1)


def _std_error(u, x):
    error, std = _variance_error(u, x), np.sqrt(_variance(x))
    with np.errstate(all="ignore"):
        return np.fmin(error / std, np.sqrt(error)) + 2 * u * std


def _variance_vjp(g, x):
    return _column(g) * 2 * _deviation(x) / _N


def _deviation_error(u, x):
    return (_N + 4) * u * (np.mean(np.abs(x), axis=1, keepdims=True) + np.abs(_deviation(x)))


def _std_vjp(g, x):
    """Where a row is constant, 0, which is a subgradient of a convex function at its minimum."""
    std = _column(np.sqrt(_variance(x)))
    return _column(g) * np.where(std == 0, 0, _deviation(x) / np.where(std == 0, 1, std) / _N)


def _std_grad_error(u, g, x):
    std = _column(np.sqrt(_variance(x)))
    relative = _column(_variance_error(u, x)) / np.where(std == 0, 1, std**2) + 8 * u
    return (
        np.abs(_column(g))
        / np.where(std == 0, 1, std)
        / _N
        * (_deviation_error(u, x) + np.abs(_deviation(x)) * relative)
    )


#: Rows: zeros; zeros of both signs; equal numbers; equal and opposite numbers.
_TIES = rows([0.0], [-0.0, 0.0], [2.0], [3.0, -3.0])

#: The variance, its root, and the mean with the variance.
_SPREAD = (
    Call(
        name="math.reduce_variance",
        program=lambda tf, x: tf.math.reduce_variance(x, axis=1),
        reference=_variance,
        vjp=_variance_vjp,
        error=_variance_error,
        grad_error=lambda u, g, x: 4 / _N * np.abs(_column(g)) * _deviation_error(u, x),
    ),
    Call(
        name="math.reduce_std",
        program=lambda tf, x: tf.math.reduce_std(x, axis=1),
        reference=lambda x: np.sqrt(_variance(x)),
        vjp=_std_vjp,
        error=_std_error,
        grad_error=_std_grad_error,
    ),
    Call(
        name="nn.moments",
        program=lambda tf, x: tf.nn.moments(x, axes=[1]),
        reference=lambda x: (wide(lambda x: np.mean(x, axis=1))(x), _variance(x)),
        vjp=lambda g, x: _column(g[0]) / _N + _variance_vjp(g[1], x),
        error=lambda u, x: (_mean_error(u, x), _variance_error(u, x)),
        grad_error=lambda u, g, x: (
            4 * u * np.abs(_column(g[0])) / _N + 4 / _N * np.abs(_column(g[1])) * _deviation_error(u, x)
        ),
        outputs=2,
        signed=False,
    ),
)

SPECS = (
    *calls(
        "api-spread",
        *_SPREAD,
        Call(
            name="nn.normalize_moments",
            program=lambda tf, x: tf.nn.normalize_moments(
                tf.constant(float(x.shape[1]), x.dtype), tf.reduce_sum(x, 1), tf.reduce_sum(x * x, 1), shift=None
            ),
            reference=lambda x: (wide(lambda x: np.mean(x, axis=1))(x), _variance(x)),
            vjp=lambda g, x: _column(g[0]) / _N + _variance_vjp(g[1], x),
            # The documented statistics are sums of squares, whose difference cancels.
            error=lambda u, x: (_mean_error(u, x), 3 * (_N + 4) * u * np.mean(x * x, axis=1)),
            grad_error=lambda u, g, x: (
                4 * u * np.abs(_column(g[0])) / _N + 4 / _N * np.abs(_column(g[1])) * _deviation_error(u, x)
            ),
            outputs=2,
            signed=False,
        ),
        recipes={
            "plain": plain,
            "offset": offset(1000),
            "special": rows([NAN, 1.0], [INF], [-INF, 1.0, INF], [0.5]),
            "ties": _TIES,
        },
        ops="Mean;Square;Sqrt;SquaredDifference",
        more=("float64",),
    ),
    *calls(
        "api-spread-squared",
        *_SPREAD,
        recipes={"squared": squared},
        ops="Mean;Square;Sqrt;SquaredDifference",
        dtypes=("float16",),
        more=("float32",),
    ),
    *calls(
        "api-spread-edges",
        Call(
            name="math.reduce_variance",
            program=lambda tf, x: tf.math.reduce_variance(x, axis=1),
            reference=_edge_variance,
        ),
        Call(name="math.reduce_std", program=lambda tf, x: tf.math.reduce_std(x, axis=1), reference=_edge_variance),
        Call(
            name="math.reduce_logsumexp",
            program=lambda tf, x: tf.math.reduce_logsumexp(x, axis=1),
            reference=lambda x: np.max(x, axis=1, initial=-INF) if x.shape[1] < 2 else np.full(x.shape[0], INF),
            signed=False,
        ),
        recipes={
            "empty": lambda draw, dtype: (np.zeros((3, 0), dtype),),
            "infinite": lambda draw, dtype: (np.array([[INF, 1.0], [1.0, INF], [INF, INF]]).astype(dtype),),
            "one": lambda draw, dtype: (np.array([[0.5], [-0.0], [INF], [NAN], [3e38]], np.float64).astype(dtype),),
        },
        ops="Mean",
        constant=("output[0]", "output[1]", "output[2]"),
    ),
)
