"""References of powers."""

import numpy as np


def exponent_error(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The effect on x^(y-1) and x^(y-2) of rounding the exponent, relative to them, in units of round-off."""
    return (2 + np.abs(y)) * np.abs(np.log(np.where(x > 0, x, 1)))


def power_dx(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """y x^(y-1), which is 0 for y = 0, where x^y is 1 whatever x is."""
    return np.where(y == 0, 0, y * np.power(x, y - 1))


def power_dxdy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The term x^(y-1) of the derivative of y x^(y-1) by y, for x >= 0; 0 at x = 0 if the other term is infinite."""
    return np.where((x == 0) & (y > 0), 0, np.power(x, y - 1))


def power_dxdy_of_logarithm(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The other term, y x^(y-1) log x; at x = 0 its limit: 0 for y > 1 and y = 0, and an infinity for other y."""
    at_zero = np.where((y > 1) | (y == 0), 0, -np.inf * np.sign(y))
    away = y * np.power(x, y - 1) * np.log(np.where(x == 0, 1, x))
    return np.where(x == 0, at_zero, np.where(y == 0, 0, away))


def whole_reciprocal_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x^y of integers for y < 0, rounded towards zero: that of 1 or -1, or 0."""
    return np.where(np.abs(x) == 1, np.where(y % 2 == 0, 1, x), 0).astype(x.dtype)
