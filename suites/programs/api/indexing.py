"""Functions of `tf` that count, sort, search and mask."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.recipes.rows import SHAPE, plain, rows
from tf_opdiff.suites.reference.reductions.comparison_sort import by_comparison, first_by_heap, largest_first

_ROWS, _N = SHAPE


def _call(name, program, reference, **fields):
    return Call(name=name, program=program, reference=reference, **fields)


def _lengths(draw, dtype):
    """Lengths, with zero, one, the maximum and more, and negative ones."""
    return (np.array([0, 1, 3, 5, 7, 100, -1, -100], dtype),)


def _labels(draw, dtype):
    """Labels below 5 in every order."""
    return (draw.integers(40, low=0, high=5).astype(dtype),)


def _one_hot(x):
    return np.where(x[:, None] == np.arange(5), 3.0, -1.0).astype(np.float32)


def _confusion(x):
    counts = np.zeros((5, 5), np.int32)
    np.add.at(counts, (x, x[::-1]), 1)
    return counts


def _histogram(x):
    """Counts of five bins of equal width; values outside the range count to the outer bins."""
    at = np.clip(np.floor((x - -4) / 8 * 5), 0, 4).astype(int)
    return np.bincount(at.ravel(), minlength=5).astype(np.int32)


def _reversed(x):
    """The first 1, 2, 3 and n elements of the rows, in reverse order."""
    y = x.copy()
    for row, length in zip(y, (1, 2, 3, _N), strict=True):
        row[:length] = row[:length][::-1]
    return y


def _top(x):
    at = np.argsort(-x, axis=1, kind="stable")[:, :4]
    return np.take_along_axis(x, at, axis=1), at.astype(np.int32)


def _searched(side):
    return lambda x: np.stack([np.searchsorted(np.sort(row), x[0], side=side) for row in x]).astype(np.int32)


def _beside_nan(*xs):
    """The outputs of `api-sorted` outside XLA."""
    rising, falling, top = by_comparison(-xs[2]), by_comparison(xs[3]), first_by_heap(xs[4], 4)
    sorted_rows, sorted_columns = -largest_first(-xs[0]), largest_first(xs[1].T).T
    return sorted_rows, sorted_columns, rising, falling, np.take_along_axis(xs[4], top, axis=1), top


_TIES = rows([2.0, 1.0, 2.0], [0.0], [np.inf, 0.0, -np.inf], [1.0, -1.0])

SPECS = (
    *calls(
        "api-masks",
        _call("sequence_mask", lambda tf, x: tf.sequence_mask(x, 5), lambda x: np.arange(5) < x[:, None]),
        _call(
            "sequence_mask",
            lambda tf, x: tf.sequence_mask(x, 5, tf.int32),
            lambda x: (np.arange(5) < x[:, None]).astype(np.int32),
        ),
        _call("one_hot", lambda tf, x: tf.one_hot(x, 5, on_value=3.0, off_value=-1.0), _one_hot),
        recipes={"lengths": _lengths},
        ops="OneHot;Less",
        dtypes=("int32", "int64"),
    ),
    *calls(
        "api-counts",
        _call(
            "math.bincount",
            lambda tf, x: tf.math.bincount(x, minlength=5, maxlength=5),
            lambda x: np.bincount(x, minlength=5).astype(np.int32),
        ),
        _call("math.confusion_matrix", lambda tf, x: tf.math.confusion_matrix(x, x[::-1], 5), _confusion),
        _call("one_hot", lambda tf, x: tf.one_hot(x, 5, on_value=3.0, off_value=-1.0), _one_hot),
        recipes={"labels": _labels},
        ops="ScatterNd;OneHot",
        dtypes=("int32",),
    ),
    *calls(
        "api-histogram",
        _call("histogram_fixed_width", lambda tf, x: tf.histogram_fixed_width(x, [-4.0, 4.0], nbins=5), _histogram),
        recipes={
            "plain": plain,
            "outside": rows([-100.0, 100.0], [0.0, -0.0], [-4.0, 3.9], [1.0, 2.0]),
            "infinite": rows([-np.inf, 0.0], [np.inf, 1.0], [0.0], [1e30, -1e30]),
        },
        ops="HistogramFixedWidth",
    ),
    *calls(
        "api-zeros",
        _call(
            "math.zero_fraction",
            lambda tf, x: tf.math.zero_fraction(x),
            lambda x: np.asarray(np.mean(x == 0), np.float32),
        ),
        _call(
            "math.count_nonzero",
            lambda tf, x: tf.math.count_nonzero(x, axis=1),
            lambda x: np.count_nonzero(x, axis=1).astype(np.int64),
        ),
        recipes={
            "plain": plain,
            "outside": rows([-100.0, 100.0], [0.0, -0.0], [-4.0, 3.9], [1.0, 2.0]),
            "infinite": rows([-np.inf, 0.0], [np.inf, 1.0], [0.0], [1e30, -1e30]),
        },
    ),
    *calls(
        "api-sorted",
        _call("sort", lambda tf, x: tf.sort(x, axis=1), lambda x: np.sort(x, axis=1), signed=False),
        _call(
            "sort",
            lambda tf, x: tf.sort(x, axis=0, direction="DESCENDING"),
            lambda x: -np.sort(-x, axis=0),
            signed=False,
        ),
        _call(
            "argsort",
            lambda tf, x: tf.argsort(x, axis=1, stable=True),
            lambda x: np.argsort(x, axis=1, kind="stable").astype(np.int32),
        ),
        _call(
            "argsort",
            lambda tf, x: tf.argsort(x, axis=1, direction="DESCENDING", stable=True),
            lambda x: np.argsort(-x, axis=1, kind="stable").astype(np.int32),
        ),
        Call(
            name="math.top_k", program=lambda tf, x: tuple(tf.math.top_k(x, 4)), reference=_top, outputs=2, signed=False
        ),
        recipes={
            "plain": plain,
            "ties": _TIES,
            "nan": rows([np.nan, 1.0, 2.0], [np.nan], [np.inf, np.nan, -np.inf], [1.0, 0.0]),
        },
        mistaken={"output": _beside_nan},
        ops="TopKV2",
    ),
    *calls(
        "api-sorted-integers",
        _call("sort", lambda tf, x: tf.sort(x), np.sort),
        _call("sort", lambda tf, x: tf.sort(x, direction="DESCENDING"), lambda x: np.sort(x)[::-1]),
        _call(
            "argsort", lambda tf, x: tf.argsort(x, stable=True), lambda x: np.argsort(x, kind="stable").astype(np.int32)
        ),
        recipes={
            "limits": lambda draw, dtype: (
                np.array([3, np.iinfo(dtype).min, 1, np.iinfo(dtype).max, 0, 3, np.iinfo(dtype).max - 1], dtype),
            )
        },
        ops="TopKV2",
        dtypes=("int8", "int32", "int64", "uint8", "uint32"),
        tier="full",
    ),
    *calls(
        "api-moved",
        _call("roll", lambda tf, x: tf.roll(x, [1, -3], [0, 1]), lambda x: np.roll(x, (1, -3), (0, 1))),
        _call("roll", lambda tf, x: tf.roll(x, 100, 1), lambda x: np.roll(x, 100, 1)),
        _call("reverse_sequence", lambda tf, x: tf.reverse_sequence(x, [1, 2, 3, x.shape[1]], seq_axis=1), _reversed),
        _call("reverse", lambda tf, x: tf.reverse(x, [-1]), lambda x: x[:, ::-1]),
        _call("clip_by_value", lambda tf, x: tf.clip_by_value(x, -1.0, 2.0), lambda x: np.clip(x, -1, 2)),
        _call("searchsorted", lambda tf, x: tf.searchsorted(tf.sort(x), tf.repeat(x[:1], 4, 0)), _searched("left")),
        _call(
            "searchsorted",
            lambda tf, x: tf.searchsorted(tf.sort(x), tf.repeat(x[:1], 4, 0), side="right"),
            _searched("right"),
        ),
        recipes={"plain": plain, "ties": _TIES},
        ops="Roll;ReverseSequence;ReverseV2",
    ),
)
