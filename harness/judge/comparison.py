"""Comparison: the difference between an observed result and the promised one, in one line."""

from __future__ import annotations

import math
from dataclasses import dataclass


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
    element that comes nearest to its allowed distance, or exceeds it most.
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
