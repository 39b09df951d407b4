"""Measure: one pass over a result: which elements are right within the budget, and how far off they are by segment.

For float32 results and float64 promises a C library does this, several times as fast as NumPy. It is compiled on first
use; without a C compiler, NumPy does it. Both give the same figures, but for the last bits of sums.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from tf_opdiff.harness.judge.differences.difference import ulp_of
from tf_opdiff.harness.system import compiler

_SOURCE = Path(__file__).with_suffix(".c")
#: The largest power of two in a histogram is below this.
_POWERS = 64


@dataclass(frozen=True, eq=False)
class Measured:
    """The elements of a result that are right, by segment, and the places of the rest.

    A distance is that of a finite result from the promise before rounding, in ULPs of the rounded promise.

    Attributes:
      finite: int64, for each segment the number of finite elements whose distance is within the budget. If the rounded
        promise is a zero, only the same zero counts.
      rounded: int64, the number of those that equal the rounded promise.
      total: float64, the sum of their distances.
      largest: float64, the largest of their distances; -1 without any.
      worst: int64, the first place with that distance.
      absolute: the largest absolute error of these elements.
      histogram: int64, the number of these elements that differ from the rounded promise by [2^(k-1), 2^k) ULPs; k = 0
        counts those below 1 ULP.
      rest: int64, the places of all other elements, ascending, but for NaNs and infinities that equal the promise.
    """

    finite: np.ndarray
    rounded: np.ndarray
    total: np.ndarray
    largest: np.ndarray
    worst: np.ndarray
    absolute: float
    histogram: np.ndarray
    rest: np.ndarray

    def with_rest(self, places: np.ndarray, ulps: np.ndarray, starts: np.ndarray) -> Self:
        """Adds elements of the rest that are finite and have the right class; `starts` are those of the segments.

        `places` are ascending, and `ulps` are the distances of the elements there.
        """
        if not places.size:
            return self
        cuts = np.searchsorted(places, starts)
        elements = np.diff(cuts, append=places.size)
        here = np.flatnonzero(elements)  # the segments with such elements
        finite, total, largest, worst = (a.copy() for a in (self.finite, self.total, self.largest, self.worst))
        finite[here] += elements[here]
        total[here] += np.add.reduceat(ulps, cuts[here])
        farthest, first = _first_largest(ulps, cuts[here])
        beyond = farthest > largest[here]
        largest[here[beyond]], worst[here[beyond]] = farthest[beyond], places[first[beyond]]
        rounded, absolute, histogram, rest = self.rounded, self.absolute, self.histogram, self.rest
        return type(self)(finite, rounded, total, largest, worst, absolute, histogram, rest)


def measure(got: np.ndarray, value: np.ndarray, budget: float, starts: np.ndarray) -> Measured:
    """Measures a result against its promise.

    Args:
      got: the result, of shape (n,), in a float dtype.
      value: the promise, of the same shape, in that dtype or a wider one.
      budget: the allowed distance in ULPs.
      starts: int64, the first place of each segment.
    """
    dense = got.flags.c_contiguous and value.flags.c_contiguous
    if got.dtype == np.float32 and value.dtype == np.float64 and dense and (function := compiled()):
        return in_c(function, got, value, budget, starts)
    return in_numpy(got, value, budget, starts)


@cache
def compiled() -> Callable[..., int] | None:
    """The function of the C library; None if it can't be compiled here."""
    try:
        # a sum of rounded products would not be the same as that of NumPy
        library = ctypes.CDLL(str(compiler.library(_SOURCE, "-O3", "-ffp-contract=off", "-fno-trapping-math")))
    except OSError:
        return None
    function = library.measure
    function.restype = ctypes.c_int64
    pointer: Any = ctypes.c_void_p
    function.argtypes = [pointer, pointer, ctypes.c_double, pointer, ctypes.c_int64, *[pointer] * 8]
    return function


def in_c(
    function: Callable[..., int], got: np.ndarray, value: np.ndarray, budget: float, starts: np.ndarray
) -> Measured:
    """Measures a float32 result against a float64 promise, both dense, with the C library."""
    ends, absolute = np.append(starts, got.size).astype(np.int64, copy=False), np.zeros(1)
    finite, rounded, worst, histogram = (np.zeros(n, np.int64) for n in (*[starts.size] * 3, _POWERS))
    total, largest, rest = np.empty(starts.size), np.empty(starts.size), np.empty(got.size + 1, np.int64)
    outputs = (finite, rounded, total, largest, worst, absolute, histogram, rest)
    arrays = (a.ctypes.data for a in outputs)
    left = function(got.ctypes.data, value.ctypes.data, budget, ends.ctypes.data, starts.size, *arrays)
    powers = np.trim_zeros(histogram, "b")
    return Measured(finite, rounded, total, largest, worst, float(absolute[0]), powers, rest[:left].copy())


def in_numpy(got: np.ndarray, value: np.ndarray, budget: float, starts: np.ndarray) -> Measured:
    """Measures a result with NumPy; see `measure`."""
    rounded = value.astype(got.dtype)
    unsigned = np.dtype(f"u{got.dtype.itemsize}")
    wide, target = got.astype(np.float64), rounded.astype(np.float64)
    same = got.view(unsigned) == rounded.view(unsigned)
    finite = np.isfinite(wide) & np.isfinite(target)
    unit = ulp_of(np.where(finite, target, 0.0), got.dtype)
    absolute = np.abs(wide.astype(value.dtype, copy=False) - value)
    ulps = (absolute / unit).astype(np.float64, copy=False)
    right = finite & (same | (target != 0)) & (ulps <= budget)
    settled = right | (~finite & (same | (np.isnan(wide) & np.isnan(target))))
    distances = np.where(right, ulps, -1.0)
    largest, worst = _first_largest(distances, starts)
    apart = right & ~same
    _, powers = np.frexp(np.abs(wide[apart] - target[apart]) / unit[apart])
    return Measured(
        np.add.reduceat(right.astype(np.int64), starts),
        np.add.reduceat((right & same).astype(np.int64), starts),
        np.add.reduceat(np.where(right, ulps, 0.0), starts),
        largest,
        worst,
        float(absolute[right].max(initial=0.0)),
        np.bincount(np.maximum(powers, 0)) if powers.size else np.zeros(0, np.int64),
        np.flatnonzero(~settled),
    )


def _first_largest(numbers: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest of the numbers in each segment, and its first place; no segment is empty."""
    largest = np.maximum.reduceat(numbers, starts)
    hits = np.flatnonzero(numbers == np.repeat(largest, np.diff(starts, append=numbers.size)))
    return largest, hits[np.searchsorted(hits, starts)]
