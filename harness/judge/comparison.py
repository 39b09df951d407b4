"""Comparison: the difference between an observed result and the promised one, in one line."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np


@dataclass(frozen=True, eq=False)
class Distances:
    """The distance of each element of a float result from the promise, as arrays of the result's shape.

    Attributes:
      ulps: the distances in ULPs; 0 where either number is not finite.
      wrong_class: whether the class is wrong: NaN, infinity, the sign of a zero, a flushed subnormal number.
      mismatched: whether the element differs by more than allowed.
    """

    ulps: np.ndarray
    wrong_class: np.ndarray
    mismatched: np.ndarray

    @classmethod
    def of_parts(cls, real: Self, imaginary: Self) -> Self:
        """The distances of complex numbers: the larger distance of the two parts, and what is wrong in either."""
        return cls(
            np.maximum(real.ulps, imaginary.ulps),
            real.wrong_class | imaginary.wrong_class,
            real.mismatched | imaginary.mismatched,
        )


@dataclass(frozen=True)
class Element:
    """One element of a result: its index, the observed value and the promised value."""

    index: tuple[int, ...]
    got: str
    want: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The difference between an observed result and the promised one. `kind` is empty if there is none.

    `index` is the index of the worst element, and `distance` its distance in words. `simplest` is the element of the
    same kind with the simplest input. `max_ulp` and `max_abs` are over all finite elements, also those within the
    budget. A bound allows different distances for different elements: `max_ulp` and `budget` are then those of the
    element that comes nearest to its allowed distance, or exceeds it most. `distances` are those of all elements of a
    real or complex result; None for others.
    """

    kind: str = ""
    size: int = 0
    mismatched: int = 0
    max_ulp: float = math.nan
    max_abs: float = math.nan
    budget: float = math.nan
    index: tuple[int, ...] | None = None
    got: str = ""
    want: str = ""
    detail: str = ""
    distance: str = ""
    simplest: Element | None = None
    distances: Distances | None = field(default=None, repr=False, compare=False)
