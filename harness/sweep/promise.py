"""Promise: what one quantity has to be over many elements; most results are found to keep it without taking distances.

The comparison is that of `harness.compare`, element for element. Elements that are bit-equal to the promise, or to its
rounding where the budget covers the rounding, need no look; all the others get one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from harness.compare import Comparison, Differences, compare_arrays, differences
from harness.inputs import is_float


@dataclass(frozen=True)
class Difference:
    """A comparison, and the elements that were looked at: their places, ascending, and what became of each."""

    comparison: Comparison
    at: np.ndarray | None = None
    got: np.ndarray | None = None
    found: Differences | None = None


class Promise:
    """The value of a `Want`, compared with results of several plans; what can be kept between them is.

    value: of shape (n,), in `dtype` or wider. bound: as for `compare_arrays`, of shape (n,) or a scalar.
    """

    def __init__(self, value: np.ndarray, dtype: np.dtype, budget: float, bound: np.ndarray | None = None) -> None:
        self.value, self.dtype, self.budget, self.bound = value, dtype, budget, bound
        self._unsigned = np.dtype(f"u{dtype.itemsize}")

    @cached_property
    def _rounded(self) -> np.ndarray:
        return self.value.astype(self.dtype)

    @cached_property
    def _rounding(self) -> Comparison:
        """The distances of the rounded promise from the promise."""
        return compare_arrays(self._rounded, self.value, self.dtype, budget=np.inf)

    def compare(self, got: np.ndarray) -> Difference:
        """What `compare_arrays` says of a result, and of which elements it says so."""
        if got.shape != self.value.shape or got.dtype != self.dtype or not is_float(self.dtype):
            plain = compare_arrays(got, self.value, self.dtype, budget=self.budget, bound=self.bound)
            return Difference(plain)
        if self.value.dtype == np.float64 and np.array_equal(
            got.astype(np.float64).view(np.uint64), self.value.view(np.uint64)
        ):
            return Difference(Comparison(size=got.size, max_ulp=0.0, max_abs=0.0, budget=self.budget))
        if not self._covered:
            return self._look(got, np.arange(got.size))
        at = np.flatnonzero(got.view(self._unsigned) != self._rounded.view(self._unsigned))
        looked = self._look(got, at)
        rest = looked.comparison
        # Where both are finite, no number of the dtype is nearer to the promise than its rounding: the largest distance
        # is that of an element which was looked at, if it is more than half an ULP, or else that of a rounding.
        if not np.isfinite(got[at]).all():
            return self._look(got, np.arange(got.size))
        if self.dtype != np.float32 or not (rest.max_ulp >= 0.5 and rest.max_abs >= self._largest_rounding):
            rest = replace(
                rest,
                max_ulp=max(rest.max_ulp, self._rounding.max_ulp),
                max_abs=max(rest.max_abs, self._rounding.max_abs),
            )
        return replace(looked, comparison=replace(rest, size=got.size))

    @property
    def _covered(self) -> bool:
        """Whether the budget allows what rounding the promise costs; only float32 rounds but once, from float64."""
        if self.budget >= 0.5 and self.dtype == np.float32 and self.value.dtype == np.float64:
            return True
        return self._rounding.max_ulp <= self.budget

    @cached_property
    def _largest_rounding(self) -> float:
        """No less than the largest absolute distance of a (float32) rounding: half an ULP of the largest number."""
        largest = np.fmax.reduce(np.abs(self._rounded), initial=0.0)
        return float(np.spacing(largest)) / 2 if np.isfinite(largest) else np.inf

    def _look(self, got: np.ndarray, at: np.ndarray) -> Difference:
        """Takes the distances of the elements at the given places."""
        bound = self.bound if self.bound is None or self.bound.ndim == 0 else self.bound[at]
        chosen = got[at]
        with np.errstate(all="ignore"):
            found = differences(chosen, self.value[at], self.dtype, budget=self.budget, bound=bound)
        line = found.comparison(chosen, self.budget)
        if line.index is not None:
            line = replace(line, index=(int(at[line.index[0]]),))
        return Difference(replace(line, size=got.size), at, chosen, found)
