"""Promise: the promised values of one quantity for many elements, and a fast comparison with results.

For each element, the comparison agrees with `harness.judge.differences.compare`. It is fast because one pass measures
all elements and settles most of them: they are finite and within the budget, or equal to a promise that is not finite.
Only the rest gets a closer look.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.differences.comparison import Distances
from tf_opdiff.harness.judge.differences.difference import Differences, differences, ulp_of
from tf_opdiff.harness.judge.promises.want import positive_zeros
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.sweep.measurements.measure import Measured, measure

#: The start of a single segment: all elements.
WHOLE = np.zeros(1, np.int64)
Bound = Callable[[np.ndarray], np.ndarray]
Excuse = Callable[[np.ndarray, np.ndarray, Differences], np.ndarray]


@dataclass(frozen=True)
class Difference:
    """The comparison of a result with its promise.

    `histogram[k]` counts the finite elements that differ from the rounded promise by [2^(k-1), 2^k) ULPs; k = 0 counts
    those below 1 ULP. `max_ulp` and `max_abs` are the largest distances from the promise before rounding, of elements
    that are finite and have the right class. `at` has the places, ascending, of the elements that `found` classifies:
    all wrong ones, and the `flushed` ones among them, which have no distance. `got` has the results at these places.
    `farthest` has the place of the largest distance, the result there and the promise there. `measured` has the
    distances by segment; None for integers and booleans.
    """

    size: int
    max_ulp: float = 0.0
    max_abs: float = 0.0
    histogram: list[int] = field(default_factory=list)
    at: np.ndarray | None = None
    got: np.ndarray | None = None
    found: Differences | None = None
    flushed: np.ndarray | None = None
    farthest: tuple[int, str, str] | None = None
    measured: Measured | None = None


class Promise:
    """The value of a `Want`, to compare with results of several plans; computes shared arrays only once.

    value: of shape (n,), in `dtype` or wider. bound: places → the largest absolute errors allowed there.
    unsigned_zeros: the same as in `Want`.
    """

    def __init__(
        self,
        value: np.ndarray,
        dtype: np.dtype,
        budget: float,
        bound: Bound | None = None,
        *,
        unsigned_zeros: bool = False,
    ) -> None:
        self.value, self.dtype, self.budget, self.bound = value, dtype, budget, bound
        self.unsigned_zeros = unsigned_zeros

    @cached_property
    def _rounded(self) -> np.ndarray:
        return self.value.astype(self.dtype)

    @cached_property
    def _finite(self) -> np.ndarray:
        """Where the rounded promise is finite."""
        return np.isfinite(self._rounded.astype(np.float64))

    @cached_property
    def _unit(self) -> np.ndarray:
        """The unit in the last place of the rounded promise; any number where that is not finite."""
        return ulp_of(np.where(self._finite, self._rounded.astype(np.float64), 0.0), self.dtype)

    def compare(self, got: np.ndarray, excuse: Excuse | None = None, starts: np.ndarray = WHOLE) -> Difference:
        """Compares a result with the promise; it has the promise's shape and dtype.

        `excuse` takes places, the results there and their differences; it returns which of them are flushed numbers.
        `starts` are those of the segments of `Difference.measured`.
        """
        if not is_float(self.dtype):
            return self._exact(got)
        if self.unsigned_zeros:
            got = positive_zeros(got)
        measured = measure(got, self.value, self.budget, starts)
        return self._with_rest(got, measured, excuse, starts)

    def _with_rest(
        self, whole: np.ndarray, measured: Measured, excuse: Excuse | None, starts: np.ndarray
    ) -> Difference:
        """Adds the distances of the rest, and the classes of elements that differ by more than allowed."""
        at = measured.rest
        got, value = whole[at], self.value[at]
        rounded = value.astype(self.dtype)
        unit = ulp_of(rounded, self.dtype)
        absolute = np.abs(got.astype(value.dtype) - value)
        ulps = (absolute / unit).astype(np.float64, copy=False)  # NaN where neither is finite
        finite = np.isfinite(got.astype(np.float64)) & np.isfinite(rounded.astype(np.float64))
        where, bound = np.arange(at.size), None
        if self.bound and at.size:
            bound = np.broadcast_to(self.bound(at), at.shape)
            where = np.flatnonzero(~((rounded != 0) & (ulps > 0) & (absolute <= bound)))  # of zeros, the signs matter
            bound = bound[where]
        found = flushed = None
        if where.size:
            found = differences(got[where], value[where], self.dtype, budget=self.budget, bound=bound)
            within = self._beyond_range(got[where], value[where], bound)
            found = replace(found, classes={**found.classes, "inf": found.classes["inf"] & ~within})
            ulps[where] = found.ulps
            finite[where] &= ~found.wrong_class
            if excuse and found.wrong.any():
                flushed = excuse(at[where], got[where], found) & found.wrong
                finite[where[flushed]], ulps[where[flushed]], absolute[where[flushed]] = False, 0.0, 0.0
        histogram = _histogram(np.abs(got.astype(np.float64) - rounded.astype(np.float64)) / unit)
        measured = measured.with_rest(at[finite], ulps[finite], starts)
        most = int(np.argmax(measured.largest))
        place, largest = int(measured.worst[most]), float(measured.largest[most])
        return Difference(
            whole.size,
            max_ulp=max(0.0, largest, float(ulps[where].max(initial=0.0))),
            max_abs=max(measured.absolute, float(absolute[finite].max(initial=0.0))),
            histogram=[int(n) for n in _sum(measured.histogram, histogram)],
            at=at[where],
            got=got[where],
            found=found,
            flushed=flushed,
            farthest=(place, str(whole[place]), str(self.value[place].astype(self.dtype))) if largest > 0 else None,
            measured=measured,
        )

    def _beyond_range(self, got: np.ndarray, value: np.ndarray, bound: np.ndarray | None) -> np.ndarray:
        """The places where an infinite result is within the budget of a finite promise, or the reverse.

        A promise near the largest number may be rounded beyond it; a promise beyond it may be rounded back. An infinity
        stands for all numbers that round to it; these begin half an ULP above the largest number.
        """
        top = np.array([float(ml_dtypes.finfo(self.dtype).max)])
        unit = ulp_of(np.where(np.isfinite(value), np.minimum(np.abs(value), top), 0), self.dtype)
        allowed = self.budget * unit if bound is None else np.fmax(self.budget * unit, bound)
        least, size = top + ulp_of(top, self.dtype) / 2, np.abs(got.astype(np.float64))
        nearest = np.where(np.isinf(size), np.maximum(least, np.abs(value)), size)
        return np.isfinite(value) & (np.signbit(got) == np.signbit(value)) & (abs(nearest - np.abs(value)) <= allowed)

    def distances(self, got: np.ndarray, difference: Difference) -> Distances | None:
        """The distance of every element of a result from the promise; None if they are no floats.

        `difference` is the result's comparison. The class of a flushed number is wrong, which is allowed.
        """
        if not is_float(self.dtype):
            return None
        wide = got.astype(self.value.dtype)
        ulps = np.where(np.isfinite(wide) & self._finite, np.abs(wide - self.value) / self._unit, 0.0)
        wrong_class, mismatched = np.zeros(got.size, bool), np.zeros(got.size, bool)
        if difference.found is not None and difference.at is not None:
            found, at = difference.found, difference.at
            flushed = np.zeros(at.size, bool) if difference.flushed is None else difference.flushed
            wrong_class[at], mismatched[at] = found.wrong_class | flushed, found.wrong & ~flushed
        return Distances(ulps, wrong_class, mismatched)

    def _exact(self, got: np.ndarray) -> Difference:
        """Compares integers or booleans, which must be equal."""
        at = np.flatnonzero(got != self.value)
        if not at.size:
            return Difference(got.size)
        none = np.zeros(at.size)
        found = Differences({"value": np.ones(at.size, bool)}, none, none, self.value[at], self.value[at])
        return Difference(got.size, at=at, got=got[at], found=found)


def _histogram(ulps: np.ndarray) -> np.ndarray:
    """Counts positive finite numbers of ULPs by powers of two; see `Difference.histogram`."""
    _, powers = np.frexp(ulps[(ulps > 0) & (ulps < np.inf)])
    return np.bincount(np.maximum(powers, 0)) if powers.size else np.zeros(0, np.int64)


def _sum(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The sum of two histograms, of which the shorter one lacks zeros at its end."""
    longer, shorter = (one, other) if one.size >= other.size else (other, one)
    return longer + np.pad(shorter, (0, longer.size - shorter.size))
