"""Bessel functions and their derivatives, of mpmath's numbers and of float64 arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import numpy as np
from scipy import special

from tf_opdiff.suites.reference.promises.float64 import over
from tf_opdiff.suites.reference.promises.wide import mp


def _remembered(function: Callable[[int, Any], Any]) -> Callable[[int, Any], Any]:
    """The function of an order and an mpf, computed once for each precision: a derivative needs the same values."""
    values = lru_cache(maxsize=1 << 14)(lambda order, x, prec: function(order, x))

    @wraps(function)
    def value(order: int, x: Any) -> Any:
        return values(order, x, mp.prec)

    return value


def _scaled_series(order: int, x: Any, sign: int) -> Any:
    """The asymptotic series of the scaled modified Bessel functions, https://dlmf.nist.gov/10.40.E1 and E2: x > 60."""
    total = term = mp.one
    k = 0
    while abs(term) > mp.eps * abs(total) and k < 2 * x:  # then the terms grow
        k += 1
        term *= sign * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
    return total


def _scaled_i(order: int, x: Any) -> Any:
    """I(x) exp(-|x|); far out by its series, which leaves out exp(-2 |x|)."""
    if abs(x) < 200:
        return mp.besseli(order, x) * mp.exp(-abs(x))
    total = _scaled_series(order, abs(x), -1) / mp.sqrt(2 * mp.pi * abs(x))
    return -total if order % 2 and x < 0 else total


#: cosh(k / 24), the nodes of a trapezoidal rule.
_NODES = [mp.cosh(mp.mpf(k) / 24) for k in range(140)]


@_remembered
def scaled_k(order: int, x: Any) -> Any:
    """K(x) exp(x), real right of 0: https://dlmf.nist.gov/10.32.E9 by the trapezoidal rule, to every digit."""
    if x < 2:
        return mp.besselk(order, x) * mp.exp(x) if x >= 0 else mp.nan
    if x > 60:
        return _scaled_series(order, x, 1) * mp.sqrt(mp.pi / (2 * x))
    return (mp.fsum(mp.exp(x - x * c) * c**order for c in _NODES) - mp.mpf(0.5)) / 24


def k(order: int, x: Any) -> Any:
    """K(x), real right of 0."""
    return scaled_k(order, x) * mp.exp(-x)


@_remembered
def y(order: int, x: Any) -> Any:
    """Y(x), real right of 0; far out by Hankel's series, https://dlmf.nist.gov/10.17.E4, for mpmath takes seconds."""
    if x <= 0:
        return mp.nan
    if x < 1000:
        return mp.bessely(order, x)
    terms, k = [mp.one], 0
    while abs(terms[-1]) > mp.eps:
        k += 1
        terms.append(terms[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * x))
    with mp.workprec(mp.prec + mp.mag(x)):
        phase = x - order * mp.pi / 2 - mp.pi / 4
        sine, cosine = mp.sin(phase), mp.cos(phase)
    even, odd = (mp.fsum((-1) ** i * t for i, t in enumerate(terms[n::2])) for n in (0, 1))
    return mp.sqrt(2 / (mp.pi * x)) * (sine * even + cosine * odd)


def i0(x: Any) -> Any:
    """I₀(x)."""
    return _scaled_i(0, x) * mp.exp(abs(x))


def i1(x: Any) -> Any:
    """I₁(x)."""
    return _scaled_i(1, x) * mp.exp(abs(x))


def i0e(x: Any) -> Any:
    """I₀(x) exp(-|x|)."""
    return _scaled_i(0, x)


def i1e(x: Any) -> Any:
    """I₁(x) exp(-|x|)."""
    return _scaled_i(1, x)


def i0e_slope(x: Any) -> Any:
    """The derivative of I₀(x) exp(-|x|); at 0, where that has a kink, the mean of both slopes."""
    with mp.workprec(mp.prec + max(0, mp.mag(x)) if x else mp.prec):  # the terms cancel
        return i1e(x) - mp.sign(x) * i0e(x)


def i1_slope(x: Any) -> Any:
    """The derivative of I₁(x)."""
    with mp.workprec(mp.prec + 2 * max(0, -mp.mag(x)) if x else mp.prec):
        return i0(x) - i1(x) / x if x else mp.mpf(0.5)


def i1e_slope(x: Any) -> Any:
    """The derivative of I₁(x) exp(-|x|)."""
    with mp.workprec(mp.prec + abs(mp.mag(x)) if x else mp.prec):
        return i0e(x) - i1e(x) * (mp.sign(x) + 1 / x) if x else mp.mpf(0.5)


def k0e_slope(x: Any) -> Any:
    """The derivative of K₀(x) exp(x)."""
    with mp.workprec(mp.prec + max(0, mp.mag(x))):  # the terms cancel far out
        return scaled_k(0, x) - scaled_k(1, x)


def k1e_slope(x: Any) -> Any:
    """The derivative of K₁(x) exp(x)."""
    with mp.workprec(mp.prec + max(0, mp.mag(x))):
        return scaled_k(1, x) * (1 - 1 / x) - scaled_k(0, x)


def _far_slope(x: np.ndarray, order: int, sign: int) -> Any:
    """The derivative of exp(-x) I(x) √(2π), or of exp(x) K(x) √(2/π), far out: https://dlmf.nist.gov/10.40."""
    factor, coefficients = 1.0, []
    for k in range(8):
        coefficients.append(-factor * (k + 0.5))
        factor = factor * sign * (4 * order - (2 * k + 1) ** 2) / (8 * (k + 1))
    return np.polynomial.polynomial.polyval(1 / x, coefficients) * x**-1.5


def i0e_slope_float64(x: np.ndarray) -> Any:
    """The derivative of I₀(x) exp(-|x|)."""
    near, far = lambda x: special.i1e(x) - special.i0e(x), lambda x: _far_slope(x, 0, -1) / np.sqrt(2 * np.pi)
    return np.sign(x) * np.piecewise(np.abs(x), [np.abs(x) > 500], [far, near])


def i1_slope_float64(x: np.ndarray) -> Any:
    """The derivative of I₁(x)."""
    i0 = special.i0(x)
    with_ratio = i0 - special.i1(x) / np.where(x == 0, 1, x)
    return np.where(x == 0, 0.5, np.where(np.isinf(x) | np.isinf(i0), np.inf, with_ratio))


def i1e_slope_float64(x: np.ndarray) -> Any:
    """The derivative of I₁(x) exp(-|x|)."""

    def near(x: np.ndarray) -> Any:
        return special.i0e(x) - special.i1e(x) - over(special.i1e, x, 0.5)

    return np.piecewise(np.abs(x), [np.abs(x) > 500], [lambda x: _far_slope(x, 1, -1) / np.sqrt(2 * np.pi), near])


def k0e_slope_float64(x: np.ndarray) -> Any:
    """The derivative of K₀(x) exp(x)."""
    near, far = lambda x: special.k0e(x) - special.k1e(x), lambda x: _far_slope(x, 0, 1) * np.sqrt(np.pi / 2)
    return np.piecewise(x, [x > 500], [far, near])


def k1e_slope_float64(x: np.ndarray) -> Any:
    """The derivative of K₁(x) exp(x)."""

    def near(x: np.ndarray) -> Any:
        return special.k1e(x) * (1 - 1 / x) - special.k0e(x)

    return np.piecewise(x, [x > 500], [lambda x: _far_slope(x, 1, 1) * np.sqrt(np.pi / 2), near])
