"""Bessel functions J and Y of float64 arrays, for sweeps of narrower dtypes: right next to zeros and far out too.

SciPy takes the sine of x - π/4, rounded: next to a zero, or far out, few digits are left. Here, from 50 on, sine and
cosine are those of x itself, and values next to a zero are computed again with more digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from tf_opdiff.suites.reference.promises.float64 import over
from tf_opdiff.suites.reference.promises.wide import long_double, mp

#: Hankel's series is used from here on; 13 terms give every digit of a long double.
_FAR, _TERMS = 50.0, 17
#: A value is computed again if it is smaller than this, in units of the amplitude: float64 has less than 10 digits.
_BESIDE_ZERO = 1e-6


def _series(order: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The even and the odd part of Hankel's series, with alternating signs: https://dlmf.nist.gov/10.17.E1 and E3."""
    coefficients = [1.0]
    for k in range(1, _TERMS):
        coefficients.append(coefficients[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    signed = [a * (-1) ** (k // 2) for k, a in enumerate(coefficients)]
    inverse = 1 / x
    square = inverse * inverse
    even, odd = (np.polynomial.polynomial.polyval(square, signed[n::2]) for n in (0, 1))
    return even, odd * inverse


def _pairs(x: np.ndarray, *orders: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """J and Y of each order, 0 or 1, of numbers from 50 on, in their dtype, without the factor √(1 / (π x))."""
    sine, cosine = np.sin(x), np.cos(x)
    plus, minus = cosine + sine, sine - cosine
    pairs = []
    for order in orders:  # the angle is x - π/4 for order 0, x - 3π/4 for order 1
        along, across = (plus, minus) if order == 0 else (minus, -plus)
        even, odd = _series(order, x)
        pairs.append((even * along - odd * across, even * across + odd * along))
    return pairs


def _far(kind: int, order: int) -> Callable[[np.ndarray], np.ndarray]:
    """J (kind 0) or Y (kind 1) of an order, like `_pairs`."""
    return lambda x: _pairs(x, order)[0][kind]


def _far_slope(kind: int) -> Callable[[np.ndarray], np.ndarray]:
    """The derivative of J (kind 0) or Y (kind 1) of order 1, like `_pairs`."""

    def slope(x: np.ndarray) -> np.ndarray:
        zeroth, first = _pairs(x, 0, 1)
        return zeroth[kind] - first[kind] / x

    return slope


@dataclass(frozen=True)
class Oscillating:
    """A function of a float64 array, of any shape; its values have 10 digits or more.

    near    the function in float64, below 50.
    far     the function without the factor √(1 / (π x)), in the dtype of its argument, from 50 on.
    exact   the function of an mpf.
    """

    near: Callable[[np.ndarray], np.ndarray]
    far: Callable[[np.ndarray], np.ndarray]
    exact: Callable[[Any], Any]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        values, far = np.empty(x.shape), (x >= _FAR) & (x < np.inf)
        values[~far] = self.near(np.minimum(x[~far], _FAR))
        numbers = x[far]
        units = self.far(numbers)
        again = np.abs(units) < _BESIDE_ZERO
        units[again] = self.far(numbers[again].astype(np.longdouble))
        values[far] = units / np.sqrt(np.pi * numbers)
        again = (np.abs(values) < _BESIDE_ZERO) & (x > 0.5) & (x < _FAR)
        values[again] = [long_double(self.exact(mp.mpf(v))) for v in x[again].tolist()]
        return values


J0 = Oscillating(special.j0, _far(0, 0), lambda x: mp.besselj(0, x))
J1 = Oscillating(special.j1, _far(0, 1), lambda x: mp.besselj(1, x))
J1_SLOPE = Oscillating(
    lambda x: special.j0(x) - over(special.j1, x, 0.5),
    _far_slope(0),
    lambda x: mp.besselj(0, x) - mp.besselj(1, x) / x,
)
Y0 = Oscillating(special.y0, _far(1, 0), lambda x: mp.bessely(0, x))
Y1 = Oscillating(special.y1, _far(1, 1), lambda x: mp.bessely(1, x))
Y1_SLOPE = Oscillating(
    lambda x: special.y0(x) - special.y1(x) / x,
    _far_slope(1),
    lambda x: mp.bessely(0, x) - mp.bessely(1, x) / x,
)
