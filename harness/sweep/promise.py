"""Promise: the promised values of one quantity for many elements, and a fast comparison with results.

For each element, the comparison agrees with `harness.judge.compare`. It is fast because most elements need no distance:
they are bit-equal to the promise, or only so few representable numbers away from the rounded promise that the budget
allows it. All other elements get a distance; those that are too far or not finite get a class as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.comparison import Distances
from tf_opdiff.harness.judge.difference import Differences, differences, ulp_of
from tf_opdiff.harness.judge.want import positive_zeros
from tf_opdiff.harness.spec.recipes import is_float

#: The first elements of a result within its budget that are searched for the largest distance.
MEASURED = 1 << 13
_SIZE, _INFINITY, _EXPONENT, _FAR = np.uint32(0x7FFF_FFFF), 0x7F80_0000, np.uint32(1 << 23), np.int32(1 << 30)
Bound = Callable[[np.ndarray], np.ndarray]
Excuse = Callable[[np.ndarray, np.ndarray, Differences], np.ndarray]


@dataclass(frozen=True)
class Difference:
    """The comparison of a result with its promise.

    `histogram[k]` counts the finite elements that differ from the rounded promise by [2^(k-1), 2^k) ULPs; k = 0 counts
    those below 1 ULP. `max_ulp` and `max_abs` are the largest distances from the promise before rounding. If all
    elements are within the budget, only the first `MEASURED` of them are searched for these; an element equal to the
    rounded promise counts as 0.5 ULP. `at` has the places, ascending, of the elements that `found` classifies: all
    wrong ones, and the `flushed` ones among them, which have no distance. `got` has the results at these places.
    `farthest` has the place of the largest distance, the result there and the promise there.
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
        self._unsigned = np.dtype(f"u{dtype.itemsize}")

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

    @cached_property
    def _loose(self) -> np.ndarray:
        """The places where even the rounded promise exceeds the budget; none if the budget allows 0.5 ULP.

        That holds only for float32: it is rounded once, from float64.
        """
        if self.budget >= 0.5 and self.dtype == np.float32 and self.value.dtype == np.float64:
            return np.zeros(0, np.intp)
        wide = self._rounded.astype(self.value.dtype)  # NumPy 2.0's `where` dies of a bfloat16 array and a plain 0
        finite = np.isfinite(wide)
        rounded = np.where(finite, wide, 0)
        apart = np.abs(rounded - np.where(finite, self.value, 0))
        return np.flatnonzero(apart > self.budget * ulp_of(rounded, self.dtype))

    @cached_property
    def _countable(self) -> bool:
        """Whether distances can be counted in bit patterns: only if all promises are finite float32 numbers."""
        bits = self._rounded.view(self._unsigned)
        return self.dtype == np.float32 and not self._loose.size and int((bits & _SIZE).max(initial=0)) < _INFINITY

    def compare(self, got: np.ndarray, excuse: Excuse | None = None) -> Difference:
        """Compares a result with the promise; it has the promise's shape and dtype.

        `excuse` takes places, the results there and their differences; it returns which of them are flushed numbers.
        """
        if not is_float(self.dtype):
            return self._exact(got)
        if self.unsigned_zeros:
            got = positive_zeros(got)
        if self._same(got):
            return Difference(got.size)
        if self._countable:
            return self._count(got, excuse)
        apart = got.view(self._unsigned) != self._rounded.view(self._unsigned)
        if self._loose.size:
            apart[self._loose] = True
        at = np.flatnonzero(apart)
        both = np.isnan(got[at]) & np.isnan(self.value[at])  # any NaN keeps a promise of NaN
        return self._look(got, at[~both] if both.any() else at, excuse)

    def _count(self, got: np.ndarray, excuse: Excuse | None) -> Difference:
        """Compares by the number k of representable numbers between a result and the rounded promise.

        The distance is k ± 1/2 ULP if both have the same sign and exponent. All other elements get a distance.
        """
        one, other = got.view(np.uint32), self._rounded.view(np.uint32)
        across = (one ^ other) >= _EXPONENT
        steps = (one - other).view(np.int32)
        np.abs(steps, out=steps)
        if across.any():
            steps[across] = _FAR
        most, safe = int(steps.max(initial=0)), int(self.budget - 0.5)
        if not most:
            return self._look(got, np.zeros(0, np.intp), excuse)
        if most > safe:
            at = np.flatnonzero(steps > safe)
        else:  # all are within the budget
            at = np.flatnonzero(steps[:MEASURED] == most)
            at = at if at.size else np.array([np.argmax(steps)])
        found = self._look(got, at, excuse)
        steps[at] = 0
        counts, total, k = found.histogram, int(np.count_nonzero(steps != 0)), 1
        while total:
            rest = int(np.count_nonzero(steps >= 1 << k)) if most >> k else 0
            counts += [0] * (k + 1 - len(counts))
            counts[k] += total - rest
            total, k = rest, k + 1
        return found

    def _same(self, got: np.ndarray) -> bool:
        """Whether all elements are bit-equal to the promise; compares the first 1000 before the others."""
        if self.value.dtype != np.float64:
            return False
        return all(
            (got[part].astype(np.float64).view(np.uint64) == self.value[part].view(np.uint64)).all()
            for part in (slice(1000), slice(1000, None))
        )

    def _look(self, whole: np.ndarray, at: np.ndarray, excuse: Excuse | None) -> Difference:
        """Computes the distances of the elements at these places, and the classes of those beyond the budget."""
        if not at.size:
            return Difference(whole.size, max_ulp=min(0.5, self.budget))
        got, value, rounded = whole[at], self.value[at], self._rounded[at]
        unit = ulp_of(rounded, self.dtype)
        absolute = np.abs(got.astype(value.dtype) - value)
        ulps = absolute / unit  # NaN where neither is finite
        most = int(np.argmax(ulps))
        where, bound = np.zeros(0, np.intp), None
        if not (rounded.all() and ulps.min() > 0 and ulps[most] <= self.budget):
            apart = (rounded != 0) & (ulps > 0)  # of zeros, the signs matter
            where = np.flatnonzero(~(apart & (ulps <= self.budget)))
            if self.bound:
                bound = np.broadcast_to(self.bound(at[where]), where.shape)
                kept = ~(apart[where] & (absolute[where] <= bound))
                where, bound = where[kept], bound[kept]
        found = flushed = None
        if where.size:
            found = differences(got[where], value[where], self.dtype, budget=self.budget, bound=bound)
            within = self._beyond_range(got[where], value[where], bound)
            found = replace(found, classes={**found.classes, "inf": found.classes["inf"] & ~within})
            ulps[where], absolute[where] = found.ulps, found.absolute  # 0 where not finite
            if excuse and found.wrong.any():
                flushed = excuse(at[where], got[where], found) & found.wrong
                ulps[where[flushed]] = absolute[where[flushed]] = 0
            most = int(np.argmax(ulps))
        return Difference(
            whole.size,
            max_ulp=max(min(0.5, self.budget) if at.size < whole.size else 0.0, float(ulps[most])),
            max_abs=float(absolute.max()),
            histogram=_histogram(np.abs(got.astype(np.float64) - rounded.astype(np.float64)) / unit),
            at=at[where],
            got=got[where],
            found=found,
            flushed=flushed,
            farthest=(int(at[most]), str(got[most]), str(rounded[most])),
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


def _histogram(ulps: np.ndarray) -> list[int]:
    """Counts positive finite numbers of ULPs by powers of two; see `Difference.histogram`."""
    _, powers = np.frexp(ulps[(ulps > 0) & (ulps < np.inf)])
    return np.bincount(np.maximum(powers, 0)).tolist() if powers.size else []
