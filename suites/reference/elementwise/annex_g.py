"""Annex G: functions of complex numbers with infinite and NaN parts, as the C standard (C99, annex G.6) has them.

Its tables are those of C's library, which NumPy calls for long doubles: https://en.cppreference.com/w/c/numeric/complex.
Functions that the annex does not have follow from those that it has, by the formula next to each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.elementwise.complex import from_parts

#: where(x, y) → whether the sign of a zero or infinite part of the result is open for z = x + i y.
Open = Callable[[np.ndarray, np.ndarray], Any]


def _never(x: np.ndarray, y: np.ndarray) -> Any:
    return np.zeros(x.shape, bool)


def _without_angle(x: np.ndarray, y: np.ndarray) -> Any:
    """The result is that of a periodic function of y, which has no limit at infinity."""
    return ~np.isfinite(y)


def _without_limit(x: np.ndarray, y: np.ndarray) -> Any:
    return np.isneginf(x) | ~np.isfinite(y)


def _infinite(x: np.ndarray, y: np.ndarray) -> Any:
    return np.isinf(x) | np.isinf(y)


@dataclass(frozen=True, kw_only=True)
class AnnexG:
    """A function of complex numbers with infinite and NaN parts.

    f             the function of arrays of long doubles.
    real, imag    where the annex leaves the sign of a part open ("±0", "±∞").
    nan           where NaN is right as well: where a number is divided by an infinity, it comes out without the
                  recovery of annex G.5, which TensorFlow does not promise.
    rounded       whether f of the parts in their own dtype, in which a square may be infinite, is right as well.
    """

    f: Callable[[np.ndarray], np.ndarray]
    real: Open = _never
    imag: Open = _never
    nan: Open = _never
    rounded: bool = False

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """The promise, as long doubles."""
        with np.errstate(all="ignore"):
            return np.asarray(self.f(np.asarray(z).astype(np.clongdouble)))

    def alternatives(self, dtype: np.dtype, g: Any, z: np.ndarray) -> list[np.ndarray]:
        """The results that are right as well, as of a spec."""
        value, x, y = self(z), z.real, z.imag
        real, imag = (
            np.where(self.real(x, y), -value.real, value.real),
            np.where(self.imag(x, y), -value.imag, value.imag),
        )
        others = [from_parts(real, value.imag), from_parts(value.real, imag), from_parts(real, imag)]
        others.append(np.where(self.nan(x, y), from_parts(np.array(np.nan), np.array(np.nan)), value))
        if self.rounded:
            others.append(np.asarray(self.f(z.astype(dtype))).astype(np.clongdouble))
        return others


def turned(function: AnnexG, *, back: bool = True) -> AnnexG:
    """-i f(i z), as the annex has sin, tan, asin and atan; f(i z), as it has cos, if `back` is false."""

    def f(z: np.ndarray) -> np.ndarray:
        w = function.f(from_parts(-z.imag, z.real))
        return from_parts(w.imag, -w.real) if back else w

    def of(part: Open) -> Open:
        return lambda x, y: part(-y, x)

    real, imag = (function.imag, function.real) if back else (function.real, function.imag)
    return AnnexG(f=f, real=of(real), imag=of(imag))


def _reciprocal(z: np.ndarray) -> np.ndarray:
    """1 / z for a number with an infinite or NaN part: a zero, or NaN."""
    infinite = np.isinf(z.real) | np.isinf(z.imag)
    zero = from_parts(np.copysign(0, z.real), np.copysign(0, -z.imag))
    return np.where(infinite, zero, from_parts(np.full(z.shape, np.nan), np.full(z.shape, np.nan)))


def _logistic(z: np.ndarray) -> np.ndarray:
    """exp(z) left of 0, and 1 - exp(-z) right of it: the limits of 1 / (1 + exp(-z))."""
    right = from_parts(1 - np.exp(-z).real, -np.exp(-z).imag)
    return np.where(
        z.real > 0, right, np.where(np.isinf(z.real), np.exp(z), from_parts(z.real * np.nan, np.exp(z).imag))
    )


def _less_one(z: np.ndarray) -> np.ndarray:
    return from_parts(np.exp(z).real - 1, np.exp(z).imag)


ACOS = AnnexG(f=np.arccos, imag=lambda x, y: np.isinf(x) & np.isnan(y))
ACOSH = AnnexG(f=np.arccosh)
ASINH = AnnexG(f=np.arcsinh, real=lambda x, y: np.isnan(x) & np.isinf(y))
ATANH = AnnexG(f=np.arctanh, real=lambda x, y: np.isnan(x) & np.isinf(y))
COSH = AnnexG(f=np.cosh, real=_without_angle, imag=lambda x, y: _without_angle(x, y) | np.isnan(x))
EXP = AnnexG(f=np.exp, real=_without_angle, imag=_without_angle)
EXPM1 = AnnexG(f=_less_one, real=_without_angle, imag=_without_angle)
LOG = AnnexG(f=np.log)
LOG1P = AnnexG(f=np.log1p)
#: The annex has no sigmoid: zeros, which are products, may have either sign, and NaN may spread to both parts.
LOGISTIC = AnnexG(f=_logistic, real=_without_limit, imag=_without_limit, nan=lambda x, y: np.isnan(x))
NEGATIVE = AnnexG(f=np.negative)
SINH = AnnexG(f=np.sinh, real=_without_angle)
SQRT = AnnexG(f=np.sqrt, imag=lambda x, y: np.isneginf(x) & np.isnan(y))
TANH = AnnexG(f=np.tanh, imag=_without_angle)
ASIN, ATAN, SIN, TAN = (turned(function) for function in (ASINH, ATANH, SINH, TANH))
COS = turned(COSH, back=False)
#: The quotients of 1 and z or √z are zeros of any sign where z has an infinite part.
RECIPROCAL = AnnexG(f=_reciprocal, real=_infinite, imag=_infinite, nan=_infinite)
RSQRT = AnnexG(f=lambda z: _reciprocal(np.sqrt(z)), real=_infinite, imag=_infinite, nan=_infinite)
#: (x² - y²) + 2 x y i, in IEEE 754 arithmetic.
SQUARE = AnnexG(
    f=lambda z: from_parts(z.real * z.real - z.imag * z.imag, z.real * z.imag + z.imag * z.real), rounded=True
)
