"""Error profile: the errors of a result, counted by sign and binary exponent of the argument, and by size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tf_opdiff.harness.device.observation import pack, unpack

#: The classes of an argument, from small to large.
CLASSES = ("zero", "subnormal", "normal", "inf", "nan")
ZERO, SUBNORMAL, NORMAL, INF, NAN = range(len(CLASSES))
#: The rows of `ErrorProfile.bins`; the first `PLACE` of them name the bin, the others count elements.
PLACE = 3
BIN = ("argument_class", "sign", "exponent", "elements", "wrong", "mismatched")
#: The upper edges of the bins of a histogram, in ULPs. The bin after the last edge counts the wrong classes.
EDGES = (0.0, 0.5, *(2.0**power for power in range(33)), math.inf)
#: All binary exponents of floats are larger than the negative of this, and smaller than this.
EXPONENTS = 1 << 12
#: The smallest and the largest value in each row of the bins.
_LEAST = np.array([[0], [-1], [-EXPONENTS], [0], [0], [0]])
_MOST = np.array([[NAN], [1], [EXPONENTS], *[[2**31]] * 3])


@dataclass(frozen=True, eq=False)
class ErrorProfile:
    """The errors of one quantity under one plan, of the elements that were compared with the promise.

    Attributes:
      argument: the name of the number that the bins are about; see `argument_of`.
      budget: the spec's budget in ULPs.
      bins: int64, the rows of `BIN` and a column for each bin: the class (its place in `CLASSES`), sign (1, -1, 0 for
        NaN) and binary exponent (0 for zero, infinity and NaN) of the argument; the number of elements, of those with a
        wrong class, and of those that differ by more than allowed. Columns are sorted by the first three rows.
      max_ulp: float64, for each bin the largest distance, in ULPs, of the elements with the right class; NaN if all
        classes are wrong.
      histogram: int64, the number of elements by size of the error: for each of `EDGES` those up to this edge and
        beyond the edge before, then those with a wrong class.
    """

    argument: str
    budget: float
    bins: np.ndarray
    max_ulp: np.ndarray
    histogram: np.ndarray

    def __add__(self, other: Self) -> Self:
        """The profile of the elements of both; both are about the same argument and budget."""
        bins, largest = np.concatenate([self.bins, other.bins], 1), np.concatenate([self.max_ulp, other.max_ulp])
        summed = sum_bins(bins, largest, PLACE)
        return type(self)(self.argument, self.budget, *summed, self.histogram + other.histogram)

    def to_json(self) -> dict[str, Any]:
        """The profile as JSON-able data, in the form of `harness.store.shards.line_types.ErrorsRow`."""
        return {
            "argument": self.argument,
            "budget": self.budget,
            "bins": pack(self.bins.astype(np.int32)),
            "max_ulp": pack(self.max_ulp),
            "histogram": np.trim_zeros(self.histogram, "b").tolist(),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Reads the data of `to_json`.

        Raises:
          ValueError: the data are damaged, or no such profile.
        """
        bins, largest = unpack(row["bins"]), unpack(row["max_ulp"])
        assert bins is not None and largest is not None
        if bins.dtype != np.int32 or largest.dtype != np.float64 or bins.shape != (len(BIN), largest.size):
            raise ValueError("error profile: expected int32 bins, and a float64 distance for each of them")
        if not (largest.size and (bins >= _LEAST).all() and (bins <= _MOST).all()) or (largest < 0).any():
            raise ValueError("error profile: expected classes, signs, exponents, counts and distances of elements")
        histogram = np.array(row["histogram"], np.int64)
        if histogram.size > len(EDGES) + 1 or histogram.sum() != bins[BIN.index("elements")].sum():
            raise ValueError("error profile: expected a histogram of the same elements")
        whole = np.zeros(len(EDGES) + 1, np.int64)
        whole[: histogram.size] = histogram
        return cls(str(row["argument"]), float(row["budget"]), bins.astype(np.int64), largest, whole)


def sum_bins(bins: np.ndarray, largest: np.ndarray, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Adds bins that are the same, and sorts them.

    Args:
      bins: a column for each bin, at least one; the first `place` rows name it, the others are summed.
      largest: a number for each bin. Equal bins keep the largest number, and NaN only if all their numbers are NaN.
    """
    order = np.lexsort(bins[place - 1 :: -1])
    bins, largest = bins[:, order], largest[order]
    starts = np.flatnonzero(np.any(np.diff(bins[:place], prepend=bins[:place, :1] - 1), axis=0))
    sums = np.concatenate([bins[:place, starts], np.add.reduceat(bins[place:], starts, axis=1)])
    return sums, np.fmax.reduceat(largest, starts)
