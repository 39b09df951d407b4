"""Complex functions and their derivatives, evaluated with mpmath in 160 bits and handed out as long doubles."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import copysign
from typing import Any, NamedTuple

import numpy as np

from tf_opdiff.suites.reference.wide import long_double, mp

#: What stands for a zero: so small that no result shows it, and with a sign, which tells the sides of a branch cut.
_ZERO = mp.ldexp(1, -2000)


def _part(x: float) -> Any:
    return mp.mpf(x) if x else _ZERO * int(copysign(1, x))


@lru_cache(maxsize=1 << 16)
def _value(f: Callable[[Any], Any], real: float, imag: float, _signs: tuple[float, float]) -> tuple[Any, Any]:
    value = mp.mpmathify(f(mp.mpc(_part(real), _part(imag))))
    return _shown(value.real), _shown(value.imag)


def _shown(part: Any) -> Any:
    """A part of a result; what stems from a zero is one."""
    tiny = abs(part) < mp.ldexp(1, -1500)
    return np.longdouble(-0.0 if part < 0 else 0.0) if tiny else long_double(part)


def wide(f: Callable[[Any], Any]) -> Callable[[np.ndarray], np.ndarray]:
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


class Analytic(NamedTuple):
    """A function of a complex number, and its derivative, of mpcs."""

    f: Callable[[Any], Any]
    d: Callable[[Any], Any]


def _logistic(z: Any) -> Any:
    return 1 / (1 + mp.exp(-z))


def _log1p(z: Any) -> Any:
    with mp.workprec(mp.prec + max(0, -mp.mag(z))):
        return mp.log(1 + z)


def _expm1(z: Any) -> Any:
    with mp.workprec(mp.prec + max(0, -mp.mag(z))):
        return mp.exp(z) - 1


def _atan(z: Any) -> Any:
    """Both parts to full accuracy: https://dlmf.nist.gov/4.23.E36."""
    x, y = z.real, z.imag
    real = mp.atan2(2 * x, (1 - x) * (1 + x) - y * y) / 2
    return mp.mpc(real, mp.log1p(4 * y / (x * x + (1 - y) ** 2)) / 4)


def _atanh(z: Any) -> Any:
    return -mp.j * _atan(mp.j * z)


def _acosh(z: Any) -> Any:
    """By acos: the real part is never negative, the imaginary one has the sign of that of z."""
    angle = mp.acos(z)
    return mp.mpc(abs(angle.imag), angle.real if z.imag > 0 else -angle.real)


def _root(z: Any) -> Any:
    """√(1 - z²), continued from the real numbers between -1 and 1: https://dlmf.nist.gov/4.23.ii."""
    return mp.sqrt(1 - z) * mp.sqrt(1 + z)


ANALYTIC: dict[str, Analytic] = {
    "acos": Analytic(mp.acos, lambda z: -1 / _root(z)),
    "acosh": Analytic(_acosh, lambda z: 1 / mp.sqrt(z - 1) / mp.sqrt(z + 1)),
    "asin": Analytic(mp.asin, lambda z: 1 / _root(z)),
    "asinh": Analytic(mp.asinh, lambda z: 1 / _root(mp.j * z)),
    "atan": Analytic(_atan, lambda z: 1 / (1 + z * z)),
    "atanh": Analytic(_atanh, lambda z: 1 / (1 - z * z)),
    "cos": Analytic(mp.cos, lambda z: -mp.sin(z)),
    "cosh": Analytic(mp.cosh, mp.sinh),
    "exp": Analytic(mp.exp, mp.exp),
    "expm1": Analytic(_expm1, mp.exp),
    "inv": Analytic(lambda z: 1 / z, lambda z: -1 / z**2),
    "log": Analytic(mp.log, lambda z: 1 / z),
    "log1p": Analytic(_log1p, lambda z: 1 / (1 + z)),
    "neg": Analytic(lambda z: -z, lambda z: mp.mpc(-1)),
    "reciprocal": Analytic(lambda z: 1 / z, lambda z: -1 / z**2),
    "rsqrt": Analytic(lambda z: 1 / mp.sqrt(z), lambda z: -1 / (2 * z * mp.sqrt(z))),
    "sigmoid": Analytic(_logistic, lambda z: _logistic(z) * _logistic(-z)),
    "sin": Analytic(mp.sin, mp.cos),
    "sinh": Analytic(mp.sinh, mp.cosh),
    "sqrt": Analytic(mp.sqrt, lambda z: 1 / (2 * mp.sqrt(z))),
    "square": Analytic(lambda z: z * z, lambda z: 2 * z),
    "tan": Analytic(mp.tan, lambda z: 1 / mp.cos(z) ** 2),
    "tanh": Analytic(mp.tanh, lambda z: 1 / mp.cosh(z) ** 2),
}
