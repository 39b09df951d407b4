"""Float64: functions of SciPy, put right at single points and at -0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Function = Callable[[np.ndarray], Any]


def at(function: Function, points: Mapping[float, float]) -> Function:
    """The function, with other values at single points."""

    def patched(x: np.ndarray) -> Any:
        values = function(x)
        for point, value in points.items():
            values = np.where(x == point, value, values)
        return values

    return patched


def odd(function: Function) -> Function:
    """The odd function, with the sign of -0, which SciPy forgets."""
    return lambda x: np.copysign(1, x) * function(np.abs(x))


def even(function: Function) -> Function:
    """The even function, for one that is defined right of 0 only."""
    return lambda x: function(np.abs(x))


def over(numerator: Function, x: np.ndarray, at_zero: float) -> Any:
    """numerator(x) / x, and a limit at 0."""
    return np.where(x == 0, at_zero, numerator(x) / np.where(x == 0, 1, x))
