"""References of division, and of quotients rounded to integers."""

import numpy as np

from tf_opdiff.suites.reference.promises.function import wide


@wide
def over(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1 / y, the derivative of x / y by x."""
    return 1 / y


@wide
def quotient_dy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """-x / y², the derivative of x / y by y."""
    return -x / y / y


def floor_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x - y floor(x / y) without the rounding of x / y; a zero has the sign of x: C's fmod and an adjustment."""
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


@wide
def floored(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x // y as Python and NumPy have it: without the rounding of x / y; -1 for a finite x over -inf, NaN for inf // y.

    A division by zero, where Python raises, is floor(x / y), as in NumPy.
    """
    return np.floor_divide(x, y)


@wide
def floor_of_quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """floor(x / y) without the rounding of x / y, except where that is not finite, or y is not."""
    return np.where(np.isfinite(x / y) & np.isfinite(y), np.floor_divide(x, y), np.floor(x / y))


def truncated(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """trunc(x / y) without the rounding of x / y, except where that is not finite, or y is not."""
    return np.where((x < 0) != (y < 0), -floor_of_quotient(-x, y), floor_of_quotient(x, y))


def whole_quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The quotient of integers that C gives: rounded towards zero."""
    quotient = x // y
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)
