"""Elementwise functions and their derivatives, evaluated with mpmath in 160 bits and handed out as long doubles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import mpmath
import numpy as np

mp = mpmath.mp.clone()
mp.prec = 160
INF, NAN = float("inf"), float("nan")


def _long(value: Any) -> np.longdouble:
    """An mpf as a long double, rounded once; a complex number, which is what lies outside a real domain, as NaN."""
    if isinstance(value, mp.mpc):
        if value.imag:
            return np.longdouble(NAN)
        value = value.real
    if not mp.isfinite(value):
        return np.longdouble(float(value))
    sign, man, exp, _ = mpmath.libmp.normalize(*value._mpf_, 64, "n")
    with np.errstate(all="ignore"):
        high, low = np.longdouble(man >> 32) * np.longdouble(2.0**32), np.longdouble(man & 0xFFFFFFFF)
        return np.ldexp(-(high + low) if sign else high + low, max(-40000, min(40000, exp)))


@dataclass(frozen=True)
class Wide:
    """A function of an mpf as a function of float64 arrays.

    `at` overrides f at single points: where f is not defined (poles, infinities) or has a kink. mpmath has no −0: an
    `odd` function has there the negative of its value at +0, any other the same value. NaN gives NaN, as does what
    lies outside the domain.
    """

    f: Callable[[Any], Any]
    at: Mapping[float, float] = field(default_factory=dict)
    odd: bool = False

    def __call__(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, np.float64)
        values = [_value(self.f, tuple(self.at.items()), v) for v in x.ravel().tolist()]
        found = np.array(values, np.longdouble).reshape(x.shape)
        return np.where((x == 0) & np.signbit(x), -found, found) if self.odd else found


@lru_cache(maxsize=1 << 17)
def _value(f: Callable[[Any], Any], at: tuple[tuple[float, float], ...], x: float) -> np.longdouble:
    for point, value in at:
        if x == point or (x != x and point != point):
            return np.longdouble(value)
    if x != x:
        return np.longdouble(NAN)
    try:
        return _long(mp.convert(f(mp.mpf(x))))
    except ValueError:  # what mpmath raises outside the domain
        return np.longdouble(NAN)


class Pair(NamedTuple):
    """A function, its derivative, and the interval in which both are worth a closer look."""

    f: Wide
    d: Wide
    domain: tuple[float, float] = (-4.0, 4.0)


def _sech2(x: Any) -> Any:
    return 1 / mp.cosh(x) ** 2


def _logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _erfc(x: Any) -> Any:
    """mp.erfc fails far out, where erfc is 0, or 2, in any float."""
    return mp.erfc(x) if abs(x) < 1000 else mp.mpf(2 if x < 0 else 0)


_OUTSIDE = {INF: NAN, -INF: NAN}
_POLE = {0.0: INF, INF: 0.0, -INF: -0.0}

PAIRS: dict[str, Pair] = {
    "abs": Pair(Wide(abs), Wide(mp.sign, odd=False)),
    "acos": Pair(Wide(mp.acos), Wide(lambda x: -1 / mp.sqrt(1 - x * x), {1: -INF, -1: -INF, **_OUTSIDE}), (-1, 1)),
    "acosh": Pair(Wide(mp.acosh), Wide(lambda x: 1 / mp.sqrt(x * x - 1) if x >= 1 else NAN, {1: INF}), (1, 100)),
    "asin": Pair(
        Wide(mp.asin, odd=True), Wide(lambda x: 1 / mp.sqrt(1 - x * x), {1: INF, -1: INF, **_OUTSIDE}), (-1, 1)
    ),
    "asinh": Pair(Wide(mp.asinh, odd=True), Wide(lambda x: 1 / mp.sqrt(1 + x * x))),
    "atan": Pair(Wide(mp.atan, odd=True), Wide(lambda x: 1 / (1 + x * x))),
    "atanh": Pair(
        Wide(mp.atanh, {1: INF, -1: -INF}, odd=True),
        Wide(lambda x: 1 / (1 - x * x), {1: INF, -1: INF, INF: -0.0, -INF: -0.0}),
        (-1, 1),
    ),
    "cos": Pair(Wide(mp.cos, _OUTSIDE), Wide(lambda x: -mp.sin(x), {0: -0.0, **_OUTSIDE}, odd=True)),
    "cosh": Pair(Wide(mp.cosh), Wide(mp.sinh, odd=True), (-90, 90)),
    "erf": Pair(Wide(mp.erf, odd=True), Wide(lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x))),
    "erfc": Pair(Wide(_erfc), Wide(lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x), {INF: -0.0, -INF: -0.0}), (-4, 9)),
    "exp": Pair(Wide(mp.exp), Wide(mp.exp), (-90, 90)),
    "expm1": Pair(Wide(mp.expm1, {-INF: -1}, odd=True), Wide(mp.exp), (-20, 90)),
    "log": Pair(Wide(mp.log, {0: -INF}), Wide(lambda x: 1 / x, _POLE, odd=True), (0, 4)),
    "log1p": Pair(Wide(mp.log1p, {-1: -INF}, odd=True), Wide(lambda x: 1 / (1 + x), {-1: INF, -INF: -0.0}), (-1, 4)),
    "neg": Pair(Wide(lambda x: -x, {0: -0.0}, odd=True), Wide(lambda x: -1, {NAN: -1})),
    "reciprocal": Pair(
        Wide(lambda x: 1 / x, _POLE, odd=True), Wide(lambda x: -1 / x**2, {0: -INF, INF: -0.0, -INF: -0.0}), (0, 4)
    ),
    "rsqrt": Pair(
        Wide(lambda x: 1 / mp.sqrt(x), {0: INF, -INF: NAN}, odd=True),
        Wide(lambda x: -mp.sqrt(x) / x**2 / 2, {0: -INF, INF: -0.0, -INF: NAN}, odd=True),
        (0, 4),
    ),
    "sigmoid": Pair(Wide(_logistic), Wide(lambda x: _logistic(x) * _logistic(-x)), (-90, 20)),
    "sin": Pair(Wide(mp.sin, _OUTSIDE, odd=True), Wide(mp.cos, _OUTSIDE)),
    "sinh": Pair(Wide(mp.sinh, odd=True), Wide(mp.cosh), (-90, 90)),
    "softplus": Pair(Wide(lambda x: mp.log1p(mp.exp(x)), {INF: INF}), Wide(_logistic), (-90, 20)),
    "softsign": Pair(
        Wide(lambda x: x / (1 + abs(x)), {INF: NAN, -INF: NAN}, odd=True), Wide(lambda x: 1 / (1 + abs(x)) ** 2)
    ),
    "sqrt": Pair(
        Wide(mp.sqrt, {-INF: NAN}, odd=True),
        Wide(lambda x: 1 / (2 * mp.sqrt(x)), {0: INF, -INF: NAN}, odd=True),
        (0, 4),
    ),
    "square": Pair(Wide(lambda x: x * x), Wide(lambda x: 2 * x, odd=True)),
    "tan": Pair(Wide(mp.tan, _OUTSIDE, odd=True), Wide(lambda x: mp.sec(x) ** 2, _OUTSIDE), (-1.5, 1.5)),
    "tanh": Pair(Wide(mp.tanh, odd=True), Wide(_sech2, {INF: 0, -INF: 0})),
}
