"""Elementary functions for inputs, correctly rounded: the last bit of NumPy's depends on the processor.

An id names the same numbers on every machine, so recipes must not use `**` with fractions, nor `np.exp` and its like.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

#: Bits of the values before they are rounded to float64.
_PRECISION = 100


def powers(base: float, exponents: np.ndarray) -> np.ndarray:
    """base ** exponents as float64, for a positive base and normal results."""
    return _rounded(lambda mp, x: mp.power(base, x), exponents)


def on_unit_circle(angles: np.ndarray) -> np.ndarray:
    """exp(i angles) as complex128."""
    z = np.empty(np.shape(angles), np.complex128)
    z.real = _rounded(lambda mp, x: mp.cos(x), angles)
    z.imag = _rounded(lambda mp, x: mp.sin(x), angles)
    return z


def _rounded(function: Callable[[Any, Any], Any], x: np.ndarray) -> np.ndarray:
    mp = _context()
    with mp.workprec(_PRECISION):
        values = [function(mp, mp.mpf(float(element))) for element in np.ravel(x)]
    with mp.workprec(53):  # rounds to nearest
        return np.array([float(+value) for value in values], np.float64).reshape(np.shape(x))


@functools.cache
def _context() -> Any:
    """A context of mpmath of our own; it takes 3 ms to make, longer than the values of an input take."""
    import mpmath  # collecting needs no inputs

    return mpmath.MPContext()
