"""Counts in NumPy: how often each number occurs, or the sum of the weights of its occurrences; and buckets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import gamma, lowest_bit
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes
from tf_opdiff.suites.reference.reductions.reduction import long


def bins(numbers: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """The sum of the weights of each number below `size`; all weights are 1 if there are none. Integers wrap around."""
    numbers, weights = numbers.ravel(), weights.ravel()
    terms = long(weights if weights.size else np.ones(numbers.shape, weights.dtype))
    out = np.zeros(size, terms.dtype)
    inside = numbers < size
    np.add.at(out, numbers[inside], terms[inside])
    return out


def row_bins(numbers: np.ndarray, weights: np.ndarray, size: int, binary: bool) -> np.ndarray:
    """The bins of each row of a matrix, or of a vector; if they are binary, 1 for each number that occurs."""
    if binary:
        weights = np.zeros(0, weights.dtype)
    if numbers.ndim < 2:
        rows = bins(numbers, weights, size)
    else:
        each = weights if weights.size else [weights] * len(numbers)
        rows = np.array([bins(*pair, size) for pair in zip(numbers, each, strict=True)]).reshape(len(numbers), size)
        rows = rows.astype(long(weights).dtype)
    return np.minimum(rows, 1) if binary else rows


@dataclass(frozen=True)
class Sums:
    """The promise of sums of weights: bins(numbers, weights, **attrs) → them, in long double or in integers."""

    bins: Callable[..., np.ndarray]

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a spec that promise the sums; 0.5: their rounding."""
        errors = {"bound": {"output": self._error}, "alternatives": {"output": self._flushed}, "ulp": {"output": 0.5}}
        return {"reference": self.bins, "unsigned_zeros": ("output",), **errors}

    def _error(self, u: float, g: Any, numbers: np.ndarray, weights: np.ndarray, **attrs: Any) -> np.ndarray:
        """γ_n Σ|w| of n weights (Higham, section 4.2); 0 where every partial sum is exact."""
        total = self.bins(numbers, np.abs(weights), **attrs)
        terms = self.bins(numbers, weights[:0].ravel()[:0], **attrs)
        exact = total * u <= np.min(lowest_bit(weights.astype(np.float64)), initial=np.inf)
        return np.asarray(np.where(exact, 0.0, gamma(terms, u) * total), np.float64)

    def _flushed(self, dtype: np.dtype, g: Any, numbers: np.ndarray, weights: np.ndarray, **attrs: Any) -> Others:
        """The bins with sums, or with weights, flushed."""
        of_flushed = self.bins(numbers, flushed_in(dtype, weights), **attrs)
        return wholes(flushed_in(dtype, self.bins(numbers, weights, **attrs)), of_flushed)


def buckets(x: np.ndarray, boundaries: Sequence[float]) -> np.ndarray:
    """The number of boundaries, rounded to float32, that are at most x; all of them for NaN, which sorts last."""
    at_most = np.array(boundaries, np.float32)
    places = np.searchsorted(at_most.astype(np.float64), x.ravel(), "right") if x.dtype.kind == "f" else None
    if places is None:  # integers beyond 2^53 keep their digits
        places = np.array([sum(int(number) >= float(b) for b in at_most) for number in x.ravel()], int)
    return places.reshape(x.shape).astype("int32")


def histogram(x: np.ndarray, low: float, high: float, bins: int) -> np.ndarray:
    """How many numbers each of the bins of equal width has; numbers out of the range count for the outer bins."""
    at = np.clip(np.floor((x - low) / (high - low) * bins), 0, bins - 1).astype(int)
    return np.bincount(at.ravel(), minlength=bins).astype(np.int32)
