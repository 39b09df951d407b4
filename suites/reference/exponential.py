"""The logistic function."""

from __future__ import annotations

from typing import Any

import numpy as np

from tf_opdiff.suites.reference.wide import mp


def logistic(x: Any) -> Any:
    """1 / (1 + exp(-x)), of an mpf."""
    return 1 / (1 + mp.exp(-x))


def logistic_slope_float64(x: np.ndarray) -> Any:
    """The derivative of the logistic function."""
    e = np.exp(-np.abs(x))
    return e / (1 + e) ** 2
