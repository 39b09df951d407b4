"""Reductions and other functions of whole arrays of `tf.experimental.numpy` against NumPy itself."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.recipes.rows import SHAPE, offset, plain, rows
from tf_opdiff.suites.reference.promises.function import wide
from tf_opdiff.suites.reference.reductions.comparison_sort import by_comparison, largest_first

_ROWS, _N = SHAPE
_WEIGHTS = tuple(float(i % 5 + 1) for i in range(_N))


def _call(name, program, f, error=None, **fields):
    return Call(name=f"experimental.numpy.{name}", program=program, reference=f, error=error, **fields)


def _sum_error(u, x):
    """(n - 1) u Σ|x|: Higham, Accuracy and Stability of Numerical Algorithms, section 4.2."""
    return _N * u * np.sum(np.abs(x), axis=1)


def _spread_error(u, x):
    off = (_N + 4) * u * np.mean(np.abs(x), axis=1)
    return 2 * ((_N + 10) * u * np.var(x, axis=1) + off * off)


def _integers(draw, dtype):
    """Small integers, the limits of the dtype, and one row whose sum does not fit the dtype."""
    info = np.iinfo(dtype)
    x = draw.integers(*SHAPE, low=-50 if info.min else 0, high=50).astype(dtype)
    x[0, :3], x[1] = [info.max, info.min, info.max], info.max // 4
    return (x,)


def _past_nan(*xs):
    """The outputs of `api-numpy-nan` that read NaN as less, or as more, than every number."""
    less, more = (np.where(np.isnan(xs[0]), end, xs[0]) for end in (-np.inf, np.inf))
    return None, None, np.max(less, axis=1), np.argmax(less, axis=1), np.argmin(more, axis=1), None


SPECS = (
    *calls(
        "api-numpy-rows",
        _call(
            "mean",
            lambda tf, x: tf.experimental.numpy.mean(x, axis=1),
            wide(lambda x: np.mean(x, axis=1)),
            lambda u, x: _sum_error(u, x) / _N + u * np.mean(np.abs(x), axis=1),
        ),
        _call(
            "var",
            lambda tf, x: tf.experimental.numpy.var(x, axis=1),
            wide(lambda x: np.var(x, axis=1)),
            _spread_error,
        ),
        _call(
            "std",
            lambda tf, x: tf.experimental.numpy.std(x, axis=1),
            wide(lambda x: np.std(x, axis=1)),
            lambda u, x: np.sqrt(_spread_error(u, x)) + 4 * u * np.std(x, axis=1),
        ),
        _call(
            "average",
            lambda tf, x: tf.experimental.numpy.average(x, axis=1, weights=tf.constant(_WEIGHTS, x.dtype)),
            wide(lambda x: np.average(x, axis=1, weights=_WEIGHTS)),
            lambda u, x: (_N + 4) * u * np.average(np.abs(x), axis=1, weights=_WEIGHTS),
        ),
        _call("ptp", lambda tf, x: tf.experimental.numpy.ptp(x, axis=1), lambda x: np.ptp(x, axis=1), ulp=0.5),
        _call(
            "cumsum",
            lambda tf, x: tf.experimental.numpy.cumsum(x, axis=1),
            wide(lambda x: np.cumsum(x, axis=1)),
            lambda u, x: _N * u * np.cumsum(np.abs(x), axis=1),
            signed=False,
        ),
        _call(
            "diff",
            lambda tf, x: tf.experimental.numpy.diff(x, axis=1),
            lambda x: np.diff(x, axis=1),
            ulp=0.5,
            signed=False,
        ),
        recipes={
            "plain": plain,
            "offset": offset(1000),
            "special": rows([np.nan, 1.0], [np.inf, 1.0], [-np.inf, 1.0, np.inf], [0.0, -0.0]),
        },
        ops="Mean;Sqrt;Cumsum;Sum",
    ),
    *calls(
        "api-numpy-nan",
        _call(
            "nanmean",
            lambda tf, x: tf.experimental.numpy.nanmean(x, axis=1),
            lambda x: np.where(
                np.isnan(x).all(axis=1), np.nan, np.nansum(x, axis=1) / np.maximum(1, (~np.isnan(x)).sum(axis=1))
            ),
            lambda u, x: (_N + 2) * u * np.nansum(np.abs(x), axis=1),
            signed=False,
        ),
        _call(
            "nansum",
            lambda tf, x: tf.experimental.numpy.nansum(x, axis=1),
            lambda x: np.nansum(x, axis=1),
            lambda u, x: _N * u * np.nansum(np.abs(x), axis=1),
            signed=False,
        ),
        _call("amax", lambda tf, x: tf.experimental.numpy.amax(x, axis=1), lambda x: np.max(x, axis=1), signed=False),
        _call("argmax", lambda tf, x: tf.experimental.numpy.argmax(x, axis=1), lambda x: np.argmax(x, axis=1)),
        _call("argmin", lambda tf, x: tf.experimental.numpy.argmin(x, axis=1), lambda x: np.argmin(x, axis=1)),
        _call(
            "count_nonzero",
            lambda tf, x: tf.experimental.numpy.count_nonzero(x, axis=1),
            lambda x: np.count_nonzero(x, axis=1),
        ),
        recipes={
            "plain": plain,
            "some": rows([np.nan], [2.0, np.nan, 1.0], [1.0, 2.0, np.nan], [0.0, -0.0]),
            "infinite": rows([-np.inf], [np.inf, 1.0], [1.0, -np.inf], [3.0, 3.0]),
        },
        mistaken={"output": _past_nan},
        ops="Sum;Max;ArgMax;ArgMin",
    ),
    *calls(
        "api-numpy-unbiased",
        _call(
            "var",
            lambda tf, x: tf.experimental.numpy.var(x, axis=1, ddof=1),
            wide(lambda x: np.var(x, axis=1, ddof=1)),
            _spread_error,
        ),
        recipes={"plain": plain},
    ),
    *calls(
        "api-numpy-sorted",
        _call("sort", lambda tf, x: tf.experimental.numpy.sort(x, axis=1), lambda x: np.sort(x, axis=1), signed=False),
        _call(
            "argsort",
            lambda tf, x: tf.experimental.numpy.argsort(x, axis=1, kind="stable"),
            lambda x: np.argsort(x, axis=1, kind="stable"),
        ),
        recipes={
            "plain": plain,
            "ties": rows([2.0, 1.0], [0.0, -0.0], [np.inf, -np.inf, 0.0], [1.0]),
            "nan": rows([np.nan, 1.0, 2.0], [np.nan], [np.inf, np.nan, -np.inf], [1.0, 0.0]),
        },
        mistaken={"output": lambda x, y: (-largest_first(-x), by_comparison(-y))},
        ops="TopKV2",
    ),
    *calls(
        "api-numpy-totals",
        _call("sum", lambda tf, x: tf.experimental.numpy.sum(x, axis=1), lambda x: np.sum(x, axis=1)),
        _call(
            "sum",
            lambda tf, x: tf.experimental.numpy.sum(x, axis=1, dtype="float32"),
            lambda x: np.sum(x.astype(np.float64), axis=1).astype(np.float32),
            ulp=_N,
        ),
        _call("mean", lambda tf, x: tf.experimental.numpy.mean(x, axis=1), lambda x: np.mean(x, axis=1), ulp=_N),
        _call("cumsum", lambda tf, x: tf.experimental.numpy.cumsum(x, axis=1), lambda x: np.cumsum(x, axis=1)),
        _call("diff", lambda tf, x: tf.experimental.numpy.diff(x, axis=1), lambda x: np.diff(x, axis=1)),
        _call("prod", lambda tf, x: tf.experimental.numpy.prod(x, axis=1), lambda x: np.prod(x, axis=1)),
        recipes={"integers": _integers},
        ops="Sum;Mean;Cumsum;Prod",
        dtypes=("int8", "int32", "uint8"),
    ),
    *calls(
        "api-numpy-ranges",
        _call(
            "linspace",
            lambda tf, x: tf.experimental.numpy.linspace(x[:, 0], x[:, 1], 7),
            wide(lambda x: np.linspace(x[:, 0], x[:, 1], 7)),
            lambda u, x: 8 * u * (np.abs(x[:, 0]) + np.abs(x[:, 1])),
            signed=False,
        ),
        _call(
            "linspace",
            lambda tf, x: tf.experimental.numpy.linspace(x[:, 0], x[:, 1], 7, endpoint=False),
            wide(lambda x: np.linspace(x[:, 0], x[:, 1], 7, endpoint=False)),
            lambda u, x: 8 * u * (np.abs(x[:, 0]) + np.abs(x[:, 1])),
            signed=False,
        ),
        Call(
            name="linspace",
            program=lambda tf, x: tf.linspace(x[:, 0], x[:, 1], 5, axis=1),
            reference=wide(lambda x: np.linspace(x[:, 0], x[:, 1], 5, axis=1)),
            error=lambda u, x: 8 * u * (np.abs(x[:, :1]) + np.abs(x[:, 1:2])),
            signed=False,
        ),
        recipes={"plain": plain, "equal": rows([2.0], [0.0], [1.0, -1.0], [1e30, 1e30])},
        ops="Range",
    ),
)
