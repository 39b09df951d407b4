"""Comparison: how an observed result differs from the promised one, in one line."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Element:
    """One element of a result: its index in the result's shape, what came and what was promised there."""

    index: tuple[int, ...]
    got: str
    want: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How an observed result differs from the promised one. `kind` is empty where it does not.

    `index` is that of the worst element in the result's shape, `distance` says in words how far off that one is, and
    `simplest` is the element of the same kind with the simplest input. `max_ulp` and `max_abs` are over all finite
    elements, those within the budget included. Where there is a bound, what is allowed differs between elements:
    `max_ulp` and `budget` are then those of the element which comes nearest to what is allowed, or exceeds it most.
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
