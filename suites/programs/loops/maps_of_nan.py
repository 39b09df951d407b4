"""Functions that choose among numbers, by `tf.map_fn`, `tf.scan` and `tf.vectorized_map`, over rows with NaN.

Kernels of some of them lose a NaN. A map calls the kernel for a row, or another one for all rows at once.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.reference.reductions.comparison_sort import first_by_heap, largest_first

_SEGMENTS = np.array([0, 1, 0, 1, 0])
#: A function of TensorFlow → the NumPy function of a row of five elements; NaN goes through all of them.
_FUNCTIONS: Mapping[str, tuple[Callable[..., Any], Callable[[np.ndarray], Any]]] = {
    "reduce_max": (lambda tf, row: tf.reduce_max(row), np.max),
    "reduce_min": (lambda tf, row: tf.reduce_min(row), np.min),
    "maximum": (lambda tf, row: tf.maximum(row, row[::-1]), lambda row: np.maximum(row, row[::-1])),
    "minimum": (lambda tf, row: tf.minimum(row, row[::-1]), lambda row: np.minimum(row, row[::-1])),
    "sort": (lambda tf, row: tf.sort(row), np.sort),
    "top_k": (lambda tf, row: tf.math.top_k(row, k=2)[0], lambda row: np.sort(row)[:-3:-1]),
    "relu": (lambda tf, row: tf.nn.relu(row), lambda row: np.maximum(row, 0)),
    "relu6": (lambda tf, row: tf.nn.relu6(row), lambda row: np.clip(row, 0, 6)),
    "clip": (lambda tf, row: tf.clip_by_value(row, -1.0, 1.0), lambda row: np.clip(row, -1, 1)),
    "segment_max": (
        lambda tf, row: tf.math.unsorted_segment_max(row, [0, 1, 0, 1, 0], 2),
        lambda row: np.stack([row[i == _SEGMENTS].max() for i in range(2)]),
    ),
}


def mapped(tf, x):
    """Each function of each row, by map_fn."""
    return tuple(tf.map_fn(lambda row, f=f: f(tf, row), x) for f, _ in _FUNCTIONS.values())


def scanned(tf, x):
    """Each function of each row, by a scan that reads no earlier result."""
    starts = [tf.zeros_like(f(tf, x[0])) for f, _ in _FUNCTIONS.values()]
    functions = [f for f, _ in _FUNCTIONS.values()]
    return tf.scan(lambda _, row: [f(tf, row) for f in functions], x, initializer=starts)


def vectorized(tf, x):
    """Each function of each row, by vectorized_map."""
    return tuple(tf.vectorized_map(lambda row, f=f: f(tf, row), x) for f, _ in _FUNCTIONS.values())


def of_rows(x):
    """The reference: each function of each row."""
    return tuple(np.stack([f(row) for row in x]) for _, f in _FUNCTIONS.values())


def _beside_nan(x):
    """The outputs outside XLA, where `sort` and `top_k` get rows with NaN."""
    wrong = {
        "sort": -largest_first(-x),
        "top_k": np.take_along_axis(x, first_by_heap(x, 2), axis=1),
    }
    return tuple(wrong.get(name, y) for name, y in zip(_FUNCTIONS, of_rows(x), strict=True))


def _with_nan(draw, d):
    """A recipe: six rows of five numbers. Each of the first five rows has one NaN, on the diagonal."""
    x = draw.values(d, 6, 5)
    x[np.arange(5), np.arange(5)] = np.nan
    return (x,)


def _maps(name, program):
    """The spec of a map of all functions."""
    return Spec(
        name=f"maps-of-nan-{name}",
        program=program,
        reference=of_rows,
        recipes={"plain": lambda draw, d: (draw.values(d, 6, 5),), "nan": _with_nan},
        names=tuple(_FUNCTIONS),
        mistaken={"output": _beside_nan},
        ops="",
        evidence=f"called:{name.replace('-', '_')}",
        unsigned_zeros=("output",),
    )


SPECS = (_maps("map-fn", mapped), _maps("scan", scanned), _maps("vectorized-map", vectorized))
