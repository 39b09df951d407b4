"""Complex functions, evaluated with mpmath in 160 bits and returned as long doubles."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import copysign
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.wide import long_double, mp

#: Exponents of numbers in place of zero: too small to show in a result, but their signs tell the sides of a branch cut.
#: The second one shows a pole: there, a result grows with it.
_ZERO, _SMALLER_ZERO = -6600, -19800
#: A part of this size may be that of a pole.
_LARGE = 200


def _part(x: float, exponent: int) -> Any:
    return mp.mpf(x) if x else mp.ldexp(int(copysign(1, x)), exponent)


@lru_cache(maxsize=1 << 16)
def _value(f: Callable[[Any], Any], real: float, imag: float, _signs: tuple[float, float]) -> tuple[Any, Any]:
    parts = _parts(f, real, imag, _ZERO)
    if real and imag:
        return _underflowing(parts[0]), _underflowing(parts[1])
    if not any(abs(part) > _LARGE for part in parts):
        return _rounded(parts[0]), _rounded(parts[1])
    one, other = (
        mp.inf * mp.sign(part) if abs(part) > _LARGE and abs(next_to) > 2 * abs(part) else part
        for part, next_to in zip(parts, _parts(f, real, imag, _SMALLER_ZERO), strict=True)
    )
    return _rounded(one), _rounded(other)


def _parts(f: Callable[[Any], Any], real: float, imag: float, exponent: int) -> tuple[Any, Any]:
    value = mp.mpmathify(f(mp.mpc(_part(real, exponent), _part(imag, exponent))))
    return value.real, value.imag


def _rounded(part: Any) -> Any:
    """A part of a result in long double; a part that comes from a zero is a zero."""
    tiny = abs(part) < mp.ldexp(1, -2500)
    return np.longdouble(-0.0 if part < 0 else 0.0) if tiny else long_double(part)


def _underflowing(part: Any) -> Any:
    """A part of a result in long double; a part that underflows keeps its sign, and is no zero."""
    least = mp.ldexp(1, -16000)
    return long_double(least * mp.sign(part) if 0 < abs(part) < least else part)


def continued(f: Callable[[Any], Any]) -> Callable[[np.ndarray], np.ndarray]:
    """A function of an mpc as a function of (finite) complex128 arrays, continued up to its branch cuts.

    On a cut, the sign of a zero part tells the side, as in C: https://en.cppreference.com/w/c/numeric/complex.
    """

    def function(z: np.ndarray) -> np.ndarray:
        z = np.asarray(z, np.complex128)
        out = np.empty(z.shape, np.clongdouble)
        for i, v in np.ndenumerate(z):
            v = complex(v)
            out.real[i], out.imag[i] = _value(f, v.real, v.imag, (copysign(1, v.real), copysign(1, v.imag)))
        return out

    return function


def logistic(z: Any) -> Any:
    """1 / (1 + exp(-z))."""
    return 1 / (1 + mp.exp(-z))


def log1p(z: Any) -> Any:
    """log(1 + z), in more bits where z is small."""
    with mp.workprec(mp.prec + max(0, -mp.mag(z))):
        return mp.log(1 + z)


def expm1(z: Any) -> Any:
    """exp(z) - 1, in more bits where z is small."""
    with mp.workprec(mp.prec + max(0, -mp.mag(z))):
        return mp.exp(z) - 1


def atan(z: Any) -> Any:
    """Both parts to full accuracy: https://dlmf.nist.gov/4.23.E36."""
    x, y = z.real, z.imag
    real = mp.atan2(2 * x, (1 - x) * (1 + x) - y * y) / 2
    return mp.mpc(real, mp.log1p(4 * y / (x * x + (1 - y) ** 2)) / 4)


def atanh(z: Any) -> Any:
    """-i atan(i z)."""
    return -mp.j * atan(mp.j * z)


def acosh(z: Any) -> Any:
    """By acos: the real part is never negative, the imaginary one has the sign of that of z."""
    angle = mp.acos(z)
    return mp.mpc(abs(angle.imag), angle.real if z.imag > 0 else -angle.real)


def root(z: Any) -> Any:
    """√(1 - z²), continued from the real numbers between -1 and 1: https://dlmf.nist.gov/4.23.ii."""
    return mp.sqrt(1 - z) * mp.sqrt(1 + z)


def from_parts(real: np.ndarray, imag: np.ndarray, dtype: Any = np.clongdouble) -> np.ndarray:
    """Complex numbers, by default of two long doubles, from their parts; zeros keep their signs."""
    z = np.empty(np.shape(real), dtype)
    z.real, z.imag = real, imag
    return z


def angle_vjp(g: np.ndarray, z: np.ndarray) -> np.ndarray:
    """g times the slopes of the angle along the axes, -y / |z|² and x / |z|²."""
    z = z.astype(np.clongdouble)
    return from_parts(-g * z.imag / np.abs(z) ** 2, g * z.real / np.abs(z) ** 2)


def clip_parts(t: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Both parts between those of the bounds, as on a CPU: complex numbers have no order, and nothing documents one."""
    real = np.minimum(np.maximum(t.real, low.real), high.real)
    return real + 1j * np.minimum(np.maximum(t.imag, low.imag), high.imag)
