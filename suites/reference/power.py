"""References of powers."""

import numpy as np


def power_dx(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """y x^(y-1), which is 0 for y = 0, where x^y is 1 whatever x is."""
    return np.where(y == 0, 0, y * np.power(x, y - 1))


def whole_reciprocal_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x^y of integers for y < 0, rounded towards zero: that of 1 or -1, or 0."""
    return np.where(np.abs(x) == 1, np.where(y % 2 == 0, 1, x), 0).astype(x.dtype)
