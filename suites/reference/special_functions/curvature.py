"""Second derivatives of special functions of one argument, as functions of mpfs.

Those of Bessel functions follow from the differential equations of https://dlmf.nist.gov/10.2.E1 and
https://dlmf.nist.gov/10.25.E1, and from the derivatives of https://dlmf.nist.gov/10.6 and https://dlmf.nist.gov/10.29.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_opdiff.suites.reference.promises.wide import NAN, mp
from tf_opdiff.suites.reference.special_functions import bessel, error_function, gamma, integrals

Curve = Callable[[Any], Any]


def _cancelling(curve: Curve) -> Curve:
    """The curve with as many more bits as its terms can cancel; x is not 0."""

    def evaluated(x: Any) -> Any:
        with mp.workprec(mp.prec + 4 * abs(mp.mag(x)) if x else mp.prec):
            return curve(x)

    return evaluated


def _right_of_zero(curve: Curve) -> Curve:
    """The curve, and NaN elsewhere."""
    return lambda x: curve(x) if x > 0 else NAN


def _cylinder(order: int, zero: Curve, one: Curve) -> Curve:
    """C'' of a Bessel function of order 0 or 1, from C₀ and C₁: Bessel's equation, x² C'' + x C' + (x² - n²) C = 0."""
    if order == 0:
        return lambda x: one(x) / x - zero(x)
    return _cancelling(lambda x: (2 / x**2 - 1) * one(x) - zero(x) / x)


def bessel_j(order: int) -> Curve:
    """J₀'' or J₁''; J₀''(0) = -1/2, J₁''(0) = 0."""
    curve = _cylinder(order, lambda x: mp.besselj(0, x), lambda x: mp.besselj(1, x))
    return lambda x: curve(x) if x else mp.mpf(order - 1) / 2


def bessel_y(order: int) -> Curve:
    """Y₀'' or Y₁''."""
    return _right_of_zero(_cylinder(order, lambda x: bessel.y(0, x), lambda x: bessel.y(1, x)))


def bessel_i1(x: Any) -> Any:
    """I₁''."""
    return _cancelling(lambda x: (1 + 2 / x**2) * bessel.i1(x) - bessel.i0(x) / x)(x) if x else mp.zero


def bessel_i0e(x: Any) -> Any:
    """The second derivative of I₀(x) exp(-|x|), which has a kink at 0: NaN there."""
    return _cancelling(lambda x: 2 * bessel.i0e(x) - bessel.i1e(x) * (2 + 1 / x))(abs(x)) if x else NAN


def bessel_i1e(x: Any) -> Any:
    """The second derivative of I₁(x) exp(-|x|), which jumps from 1 to -1 at 0: NaN there."""
    if not x:
        return NAN
    size = abs(x)
    curve = _cancelling(lambda x: bessel.i1e(x) * (2 + 2 / x + 2 / x**2) - bessel.i0e(x) * (2 + 1 / x))
    return mp.sign(x) * curve(size)


@_right_of_zero
def bessel_k0(x: Any) -> Any:
    """K₀''."""
    return bessel.k(0, x) + bessel.k(1, x) / x


@_right_of_zero
def bessel_k1(x: Any) -> Any:
    """K₁''."""
    return bessel.k(1, x) * (1 + 2 / x**2) + bessel.k(0, x) / x


@_right_of_zero
@_cancelling
def bessel_k0e(x: Any) -> Any:
    """The second derivative of K₀(x) exp(x)."""
    return 2 * bessel.scaled_k(0, x) - bessel.scaled_k(1, x) * (2 - 1 / x)


@_right_of_zero
@_cancelling
def bessel_k1e(x: Any) -> Any:
    """The second derivative of K₁(x) exp(x)."""
    return bessel.scaled_k(1, x) * (2 - 2 / x + 2 / x**2) - bessel.scaled_k(0, x) * (2 - 1 / x)


@_cancelling
def dawsn(x: Any) -> Any:
    """F'' of Dawson's integral, from F' = 1 - 2 x F: https://dlmf.nist.gov/7.10."""
    return (4 * x * x - 2) * integrals.dawsn(x) - 2 * x


def digamma(x: Any) -> Any:
    """ψ₂, by reflection left of zero: https://dlmf.nist.gov/5.15.E6; NaN at the poles, whose sides differ."""
    if x > 0:
        return mp.polygamma(2, x)
    if x == mp.floor(x):
        return NAN
    return mp.polygamma(2, 1 - x) - 2 * mp.pi**3 * mp.cospi(x) / mp.sinpi(x) ** 3


def erfinv(x: Any) -> Any:
    """2 y y'², from y' = √π / 2 exp(y²)."""
    y = error_function.erfinv(x)
    return y * mp.pi / 2 * mp.exp(2 * y * y)


def fresnel_cos(x: Any) -> Any:
    """C'', from C' = cos(π x² / 2): https://dlmf.nist.gov/7.2.E7."""
    return -mp.pi * x * mp.sinpi(x * x / 2)


def fresnel_sin(x: Any) -> Any:
    """S'', from S' = sin(π x² / 2): https://dlmf.nist.gov/7.2.E8."""
    return mp.pi * x * mp.cospi(x * x / 2)


lgamma = gamma.trigamma


def ndtri(x: Any) -> Any:
    """y y'², from y' = √(2π) exp(y² / 2)."""
    y = error_function.ndtri(x)
    return y * 2 * mp.pi * mp.exp(y * y)


def spence(x: Any) -> Any:
    """The derivative of log(x) / (1 - x)."""
    if x <= 0:
        return NAN
    if x == 1:
        return mp.mpf(0.5)
    with mp.workprec(mp.prec + 3 * max(0, -mp.mag(1 - x))):
        return 1 / (x * (1 - x)) + mp.log(x) / (1 - x) ** 2
