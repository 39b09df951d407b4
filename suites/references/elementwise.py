"""Elementwise functions and their derivatives, evaluated with mpmath in 160 bits and handed out as long doubles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isnan
from typing import Any, NamedTuple

import mpmath
import numpy as np

from tf_opdiff.harness.spec import precision
from tf_opdiff.suites.references.fast import FAST

mp = mpmath.mp.clone()
mp.prec = 160
INF, NAN = float("inf"), float("nan")


def long_double(value: Any) -> np.longdouble:
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
    lies outside the domain. `fast` stands in for f where float64 is allowed.
    """

    f: Callable[[Any], Any]
    at: Mapping[float, float] = field(default_factory=dict)
    odd: bool = False
    fast: Callable[[np.ndarray], Any] | None = None

    def __call__(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, np.float64)
        if self.fast and precision.allowed():
            return self.fast(x)
        values = [_value(self.f, tuple(self.at.items()), v) for v in x.ravel().tolist()]
        found = np.array(values, np.longdouble).reshape(x.shape)
        return np.where((x == 0) & np.signbit(x), -found, found) if self.odd else found


@lru_cache(maxsize=1 << 17)
def _value(f: Callable[[Any], Any], at: tuple[tuple[float, float], ...], x: float) -> np.longdouble:
    for point, value in at:
        if x == point or (isnan(x) and isnan(point)):
            return np.longdouble(value)
    if isnan(x):
        return np.longdouble(NAN)
    try:
        return long_double(mp.convert(f(mp.mpf(x))))
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


def _scaled_series(order: int, x: Any, sign: int) -> Any:
    """The asymptotic series of the scaled modified Bessel functions, https://dlmf.nist.gov/10.40.E1 and E2: x > 60."""
    total = term = mp.one
    k = 0
    while abs(term) > mp.eps * abs(total) and k < 2 * x:  # then the terms grow
        k += 1
        term *= sign * (4 * order * order - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
    return total


def _bessel_ie(order: int, x: Any) -> Any:
    """I(x) exp(-|x|); far out by its series, which leaves out exp(-2 |x|)."""
    if abs(x) < 200:
        return mp.besseli(order, x) * mp.exp(-abs(x))
    total = _scaled_series(order, abs(x), -1) / mp.sqrt(2 * mp.pi * abs(x))
    return -total if order % 2 and x < 0 else total


#: cosh(k / 24), the nodes of a trapezoidal rule.
_NODES = [mp.cosh(mp.mpf(k) / 24) for k in range(140)]


def _bessel_ke(order: int, x: Any) -> Any:
    """K(x) exp(x), real right of 0: https://dlmf.nist.gov/10.32.E9, of which the trapezoidal rule gives every digit."""
    if x < 2:
        return mp.besselk(order, x) * mp.exp(x) if x >= 0 else mp.nan
    if x > 60:
        return _scaled_series(order, x, 1) * mp.sqrt(mp.pi / (2 * x))
    return (mp.fsum(mp.exp(x - x * c) * c**order for c in _NODES) - mp.mpf(0.5)) / 24


def _bessel_k(order: int, x: Any) -> Any:
    return _bessel_ke(order, x) * mp.exp(-x)


def _bessel_y(order: int, x: Any) -> Any:
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


def _k0e_slope(x: Any) -> Any:
    with mp.workprec(mp.prec + max(0, mp.mag(x))):  # the terms cancel far out
        return _bessel_ke(0, x) - _bessel_ke(1, x)


def _k1e_slope(x: Any) -> Any:
    with mp.workprec(mp.prec + max(0, mp.mag(x))):
        return _bessel_ke(1, x) * (1 - 1 / x) - _bessel_ke(0, x)


def _i0(x: Any) -> Any:
    return _bessel_ie(0, x) * mp.exp(abs(x))


def _i1(x: Any) -> Any:
    return _bessel_ie(1, x) * mp.exp(abs(x))


def _i0e(x: Any) -> Any:
    return _bessel_ie(0, x)


def _i1e(x: Any) -> Any:
    return _bessel_ie(1, x)


def _i0e_slope(x: Any) -> Any:
    with mp.workprec(mp.prec + max(0, mp.mag(x)) if x else mp.prec):  # the terms cancel
        return _i1e(x) - mp.sign(x) * _i0e(x)


def _i1e_slope(x: Any) -> Any:
    with mp.workprec(mp.prec + abs(mp.mag(x)) if x else mp.prec):
        return _i0e(x) - _i1e(x) * (mp.sign(x) + 1 / x) if x else mp.mpf(0.5)


def _i1_slope(x: Any) -> Any:
    with mp.workprec(mp.prec + 2 * max(0, -mp.mag(x)) if x else mp.prec):
        return _i0(x) - _i1(x) / x if x else mp.mpf(0.5)


def _trigamma(x: Any) -> Any:
    """ψ₁, by reflection left of zero: https://dlmf.nist.gov/5.15.E6."""
    if x > 0:
        return mp.polygamma(1, x)
    return (mp.pi / mp.sinpi(x)) ** 2 - mp.polygamma(1, 1 - x) if x != mp.floor(x) else INF


def _dawsn(x: Any) -> Any:
    """Dawson's integral, https://dlmf.nist.gov/7.5.E1; far out, by the asymptotic series of https://dlmf.nist.gov/7.12."""
    if abs(x) < 200:
        return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)
    total = term = mp.one
    k = 0
    while abs(term) > mp.eps * total:
        k += 1
        term *= (2 * k - 1) / (2 * x * x)
        total += term
    return total / (2 * x)


def _dawsn_slope(x: Any) -> Any:
    with mp.workprec(mp.prec + 2 * max(0, mp.mag(x)) if x else mp.prec):  # the terms cancel
        return 1 - 2 * x * _dawsn(x)


def _erfinv(x: Any) -> Any:
    return mp.erfinv(x) if abs(x) < 1 else NAN


def _ndtri(x: Any) -> Any:
    """The quantile of the normal distribution, -√2 erfcinv(2 x); in the lower tail by Newton's steps on log erfc."""
    if not 0 < x < 1:
        return NAN
    if x > 0.1:
        return mp.sqrt(2) * mp.erfinv(2 * x - 1)
    y, step = mp.sqrt(-mp.log(2 * x)), mp.one
    while abs(step) > mp.eps * y:
        found = mp.erfc(y)
        step = mp.log(found / (2 * x)) * found * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step
    return -mp.sqrt(2) * y


def _lgamma(x: Any) -> Any:
    """log |Γ(x)|, with poles at the integers that are not positive."""
    return mp.re(mp.loggamma(x)) if x > 0 or x != mp.floor(x) else INF


#: LeakyRelu's default, as the op's attribute holds it: a float32.
_SLOPE = float(np.float32(0.2))
#: Klambauer et al., https://arxiv.org/abs/1706.02515
_ALPHA, _SCALE = mp.mpf("1.67326324235437728481704297"), mp.mpf("1.05070098735548049341933498529")
_OUTSIDE = {INF: NAN, -INF: NAN}
_ZEROS = {INF: 0.0, -INF: 0.0}
_K_POLE = {0.0: INF, INF: 0.0, -INF: NAN}
_POLE = {0.0: INF, INF: 0.0, -INF: -0.0}

PAIRS: dict[str, Pair] = {
    "abs": Pair(Wide(abs), Wide(mp.sign, odd=False)),
    "bessel-i0": Pair(Wide(_i0, {INF: INF, -INF: INF}), Wide(_i1, {INF: INF, -INF: -INF}, odd=True), (-80, 80)),
    # The slopes at infinity are differences that vanish; at 0 that of i0e, which has a kink there, is the mean of both.
    "bessel-i0e": Pair(Wide(_i0e, {INF: 0, -INF: 0}), Wide(_i0e_slope, {INF: 0, -INF: 0}), (-80, 80)),
    "bessel-i1": Pair(Wide(_i1, {INF: INF, -INF: -INF}, odd=True), Wide(_i1_slope, {INF: INF, -INF: INF}), (-80, 80)),
    "bessel-i1e": Pair(Wide(_i1e, {INF: 0, -INF: -0.0}, odd=True), Wide(_i1e_slope, {INF: 0, -INF: 0}), (-80, 80)),
    "bessel-j0": Pair(
        Wide(lambda x: mp.besselj(0, x), _ZEROS),
        Wide(lambda x: -mp.besselj(1, x), {0: -0.0, **_ZEROS}, odd=True),
        (-40, 40),
    ),
    "bessel-j1": Pair(
        Wide(lambda x: mp.besselj(1, x), {INF: 0, -INF: -0.0}, odd=True),
        Wide(lambda x: mp.besselj(0, x) - mp.besselj(1, x) / x if x else mp.mpf(0.5), _ZEROS),
        (-40, 40),
    ),
    "bessel-k0": Pair(
        Wide(lambda x: _bessel_k(0, x), _K_POLE),
        Wide(lambda x: -_bessel_k(1, x), {0: -INF, INF: -0.0, -INF: NAN}),
        (0, 80),
    ),
    "bessel-k0e": Pair(
        Wide(lambda x: _bessel_ke(0, x), _K_POLE), Wide(_k0e_slope, {0: -INF, INF: -0.0, -INF: NAN}), (0, 80)
    ),
    "bessel-k1": Pair(
        Wide(lambda x: _bessel_k(1, x), _K_POLE),
        Wide(lambda x: -_bessel_k(0, x) - _bessel_k(1, x) / x, {0: -INF, INF: -0.0, -INF: NAN}),
        (0, 80),
    ),
    "bessel-k1e": Pair(
        Wide(lambda x: _bessel_ke(1, x), _K_POLE), Wide(_k1e_slope, {0: -INF, INF: -0.0, -INF: NAN}), (0, 80)
    ),
    "bessel-y0": Pair(
        Wide(lambda x: _bessel_y(0, x), {0: -INF, INF: 0, -INF: NAN}),
        Wide(lambda x: -_bessel_y(1, x), {0: INF, INF: 0, -INF: NAN}),
        (0, 40),
    ),
    "bessel-y1": Pair(
        Wide(lambda x: _bessel_y(1, x), {0: -INF, INF: 0, -INF: NAN}),
        Wide(lambda x: _bessel_y(0, x) - _bessel_y(1, x) / x, {0: INF, INF: 0, -INF: NAN}),
        (0, 40),
    ),
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
    "dawsn": Pair(Wide(_dawsn, {INF: 0, -INF: -0.0}, odd=True), Wide(_dawsn_slope, {INF: -0.0, -INF: -0.0})),
    "digamma": Pair(
        Wide(mp.digamma, {0: -INF, INF: INF, -INF: NAN}, odd=True), Wide(_trigamma, {INF: 0, -INF: NAN}), (-40, 20)
    ),
    "elu": Pair(
        Wide(lambda x: x if x > 0 else mp.expm1(x), odd=True), Wide(lambda x: 1 if x >= 0 else mp.exp(x), {NAN: 1})
    ),
    "erf": Pair(Wide(mp.erf, odd=True), Wide(lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x))),
    "erfc": Pair(Wide(_erfc), Wide(lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x), {INF: -0.0, -INF: -0.0}), (-4, 9)),
    "erfinv": Pair(
        Wide(_erfinv, {1: INF, -1: -INF}, odd=True),
        Wide(lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(_erfinv(x) ** 2), {1: INF, -1: INF}),
        (-1, 1),
    ),
    "exp": Pair(Wide(mp.exp), Wide(mp.exp), (-90, 90)),
    "expm1": Pair(Wide(mp.expm1, {-INF: -1}, odd=True), Wide(mp.exp), (-20, 90)),
    "expint": Pair(
        Wide(lambda x: mp.ei(x) if x >= 0 else NAN, {0: -INF}),
        Wide(lambda x: mp.exp(x) / x, {0: INF, -INF: -0.0}, odd=True),
        (0, 20),
    ),
    "fresnel-cos": Pair(Wide(mp.fresnelc, odd=True), Wide(lambda x: mp.cospi(x * x / 2))),
    "fresnel-sin": Pair(Wide(mp.fresnels, odd=True), Wide(lambda x: mp.sinpi(x * x / 2))),
    "leaky-relu": Pair(
        Wide(lambda x: x if x > 0 else x * _SLOPE, odd=True), Wide(lambda x: 1 if x > 0 else _SLOPE, {NAN: _SLOPE})
    ),
    "lgamma": Pair(Wide(_lgamma, {0: INF, INF: INF, -INF: INF}), Wide(mp.digamma), (0.01, 20)),
    "log": Pair(Wide(mp.log, {0: -INF}), Wide(lambda x: 1 / x, _POLE, odd=True), (0, 4)),
    "log1p": Pair(Wide(mp.log1p, {-1: -INF}, odd=True), Wide(lambda x: 1 / (1 + x), {-1: INF, -INF: -0.0}), (-1, 4)),
    "neg": Pair(Wide(lambda x: -x, {0: -0.0}, odd=True), Wide(lambda x: -1, {NAN: -1})),
    "ndtri": Pair(
        Wide(_ndtri, {0: -INF, 1: INF}),
        Wide(lambda x: mp.sqrt(2 * mp.pi) * mp.exp(_ndtri(x) ** 2 / 2), {0: INF, 1: INF}),
        (0, 1),
    ),
    "reciprocal": Pair(
        Wide(lambda x: 1 / x, _POLE, odd=True), Wide(lambda x: -1 / x**2, {0: -INF, INF: -0.0, -INF: -0.0}), (0, 4)
    ),
    "relu": Pair(Wide(lambda x: max(x, 0)), Wide(lambda x: 1 if x > 0 else 0, {NAN: 0})),
    "relu6": Pair(Wide(lambda x: min(max(x, 0), 6)), Wide(lambda x: 1 if 0 < x < 6 else 0, {NAN: 0}), (-1, 7)),
    "rsqrt": Pair(
        Wide(lambda x: 1 / mp.sqrt(x), {0: INF, -INF: NAN}, odd=True),
        Wide(lambda x: -mp.sqrt(x) / x**2 / 2, {0: -INF, INF: -0.0, -INF: NAN}, odd=True),
        (0, 4),
    ),
    "selu": Pair(
        Wide(lambda x: _SCALE * (x if x > 0 else _ALPHA * mp.expm1(x)), odd=True),
        Wide(lambda x: _SCALE * (1 if x >= 0 else _ALPHA * mp.exp(x)), {NAN: float(_SCALE)}),
    ),
    "sigmoid": Pair(Wide(_logistic), Wide(lambda x: _logistic(x) * _logistic(-x)), (-90, 20)),
    "sin": Pair(Wide(mp.sin, _OUTSIDE, odd=True), Wide(mp.cos, _OUTSIDE)),
    "sinh": Pair(Wide(mp.sinh, odd=True), Wide(mp.cosh), (-90, 90)),
    "softplus": Pair(Wide(lambda x: mp.log1p(mp.exp(x)), {INF: INF}), Wide(_logistic), (-90, 20)),
    "softsign": Pair(
        Wide(lambda x: x / (1 + abs(x)), {INF: NAN, -INF: NAN}, odd=True), Wide(lambda x: 1 / (1 + abs(x)) ** 2)
    ),
    "spence": Pair(
        Wide(lambda x: mp.polylog(2, 1 - x) if x >= 0 else NAN),
        Wide(lambda x: mp.log(x) / (1 - x) if x > 0 else NAN, {0: -INF, 1: -1}),
        (0, 4),
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
for _name, _functions in FAST.items():
    _pair = PAIRS[_name]
    PAIRS[_name] = _pair._replace(f=replace(_pair.f, fast=_functions[0]), d=replace(_pair.d, fast=_functions[1]))
PAIRS["inv"] = PAIRS["reciprocal"]  # the old name of the same op
