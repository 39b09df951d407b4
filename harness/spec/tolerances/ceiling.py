"""Ceiling: the largest distance in ULPs that measurements leave to a result, by sign and binary exponent of the input.

A budget and a bound say how far a result may be off in a whole domain. A ceiling says how far it was ever off near one
input, with a margin. It only narrows what the budget and the bound allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import ml_dtypes
import numpy as np

#: The word for exponents without a ceiling.
OPEN = "open"


@dataclass(frozen=True)
class Steps:
    """Ceilings of the inputs of one sign: the binary exponent at which each begins, ascending, and its ULPs.

    Exponents below the first one have no ceiling, and an infinite number is none.
    """

    starts: tuple[int, ...]
    ulps: tuple[float, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `-126: 0.8, -12: 2.5, 4: open`: from the exponent -126 on 0.8 ULPs, and so on.

        Raises:
          ValueError: the text has another form, or the exponents do not ascend.
        """
        starts, ulps = [], []
        for step in filter(None, text.split(", ")):
            start, _, value = step.partition(": ")
            starts.append(int(start))
            ulps.append(np.inf if value == OPEN else float(value))
        if starts != sorted(set(starts)) or not all(value > 0 for value in ulps):
            raise ValueError(f"ceiling {text!r}: expected ascending exponents, each with a number of ULPs above 0")
        return cls(tuple(starts), tuple(ulps))

    def __str__(self) -> str:
        values = (OPEN if np.isinf(value) else f"{value:g}" for value in self.ulps)
        return ", ".join(f"{start}: {value}" for start, value in zip(self.starts, values, strict=True))

    def at(self, exponents: np.ndarray) -> np.ndarray:
        """The ceiling at each exponent, in ULPs; infinite where there is none."""
        values = np.array([np.inf, *self.ulps])
        return np.asarray(values[np.searchsorted(np.array(self.starts, int), exponents, side="right")])


@dataclass(frozen=True)
class Ceiling:
    """The ceilings of one quantity of an elementwise op of one real input, in one dtype and family of modes."""

    negative: Steps
    positive: Steps

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The ceiling of each element in ULPs, infinite where there is none; `x` holds the inputs, in their dtype.

        Only normal numbers have a ceiling.
        """
        size = np.abs(x.astype(np.float64))
        normal = np.isfinite(size) & (size >= float(ml_dtypes.finfo(x.dtype).smallest_normal))
        exponents = np.frexp(np.where(normal, size, 1.0))[1] - 1
        both = np.where(np.signbit(x), self.negative.at(exponents), self.positive.at(exponents))
        return np.where(normal, both, np.inf)


#: Quantity → dtype → family of modes → the ceiling.
Ceilings = Mapping[str, Mapping[str, Mapping[str, Ceiling]]]


def runs(values: Mapping[int, float], factor: float) -> Steps:
    """The ceilings at consecutive exponents in as few steps as their greatest values are within `factor` of the least.

    Args:
      values: exponent → ULPs; infinite for none, as for exponents that are left out.
      factor: how much wider than needed a ceiling may be.
    """
    steps: list[tuple[int, float, float]] = []  # the first exponent; the greatest and the least value
    for exponent in range(min(values), max(values) + 2) if values else ():
        value = values.get(exponent, np.inf)
        if steps:
            start, greatest, least = steps[-1]
            together = (max(greatest, value), min(least, value))
            if together[0] == together[1] or together[0] <= factor * together[1]:
                steps[-1] = (start, *together)
                continue
        steps.append((exponent, value, value))
    return Steps(tuple(start for start, _, _ in steps), tuple(greatest for _, greatest, _ in steps))
