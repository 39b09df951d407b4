"""Accuracy: the errors of a sweep by class, sign and exponent of the input, with their mean and worst inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tf_opdiff.harness.device.observation import pack, unpack
from tf_opdiff.harness.store.records.error_profile import EXPONENTS, NAN, PLACE

#: The rows of `Accuracy.bins`; the first `PLACE` of them name the bin, as in an error profile, the others count.
BIN = ("input_class", "sign", "exponent", "inputs", "finite", "rounded", "wrong", "mismatched")


@dataclass(frozen=True, eq=False)
class Accuracy:
    """The errors of one quantity of a sweep under one plan.

    Attributes:
      bins: int64, the rows of `BIN` and a column for each bin: the class, sign and binary exponent of the input, as in
        `ErrorProfile.bins`; the number of inputs tried; of those whose result and promise are finite and whose class is
        right; of these that equal the promise rounded to the dtype; of those with a wrong class, flushed numbers
        included; and of those that differ by more than allowed. Columns are sorted by the first three rows.
      total: float64, for each bin the sum of the distances of its finite elements in ULPs.
      largest: float64, the largest of these distances; -1 if no element is finite.
      worst: int64, the first bit pattern with that distance; -1 if no element is finite.
    """

    bins: np.ndarray
    total: np.ndarray
    largest: np.ndarray
    worst: np.ndarray

    @classmethod
    def joined(cls, bins: np.ndarray, total: np.ndarray, largest: np.ndarray, worst: np.ndarray) -> Self:
        """The accuracy of one bin or more, in any order; equal bins are joined."""
        order = np.lexsort([worst, -largest, *bins[PLACE - 1 :: -1]])
        bins, total, largest, worst = bins[:, order], total[order], largest[order], worst[order]
        starts = np.flatnonzero(np.any(np.diff(bins[:PLACE], prepend=bins[:PLACE, :1] - 1), axis=0))
        counts = np.add.reduceat(bins[PLACE:], starts, axis=1)
        summed = np.concatenate([bins[:PLACE, starts], counts])
        return cls(summed, np.add.reduceat(total, starts), largest[starts], worst[starts])

    def __add__(self, other: Self) -> Self:
        """The accuracy of the inputs of both."""
        return self.sum([self, other])

    @classmethod
    def sum(cls, parts: list[Self]) -> Self:
        """The accuracy of the inputs of all parts, at least one."""
        each = ("total", "largest", "worst")
        bins = np.concatenate([part.bins for part in parts], axis=1)
        return cls.joined(bins, *(np.concatenate([getattr(part, name) for part in parts]) for name in each))

    @property
    def counts(self) -> Mapping[str, np.ndarray]:
        """The rows of `bins` by name."""
        return dict(zip(BIN, self.bins, strict=True))

    def to_json(self) -> dict[str, Any]:
        """The accuracy as JSON-able data, in the form of `harness.store.shards.line_types.AccuracyRow`."""
        distances = np.stack([self.total, self.largest])
        return {"bins": pack(self.bins), "distances": pack(distances), "worst": pack(self.worst)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Reads the data of `to_json`.

        Raises:
          ValueError: the data are damaged, or no accuracy.
        """
        bins, distances, worst = (unpack(row[name]) for name in ("bins", "distances", "worst"))
        assert bins is not None and distances is not None and worst is not None
        shapes = (bins.shape, distances.shape, worst.shape)
        types = (bins.dtype, distances.dtype, worst.dtype)
        if types != (np.int64, np.float64, np.int64) or shapes != (
            (len(BIN), worst.size),
            (2, worst.size),
            worst.shape,
        ):
            raise ValueError("accuracy: expected bins, and a total, a largest distance and an input for each of them")
        group, sign, exponent, *counts = bins
        named = (group >= 0) & (group <= NAN) & (np.abs(sign) <= 1) & (np.abs(exponent) <= EXPONENTS)
        if not worst.size or not named.all() or np.min(counts) < 0 or np.isnan(distances).any():
            raise ValueError("accuracy: expected classes, signs, exponents, counts and distances of elements")
        total, largest = distances
        return cls(bins, total, largest, worst)
