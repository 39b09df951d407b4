"""Functions of two arguments and their derivatives: in long double, and in mpmath where libm has no such function.

What IEEE 754 rounds exactly (+ - × ÷) is done in the 64 bits of a long double, as are pow and atan2, which follow the
tables of special values in C99, annex F.9. Special functions take mpmath's 160 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from tf_opdiff.suites.references.elementwise import INF, NAN, long_double, mp

Interval = tuple[float, float]


class Function(NamedTuple):
    """A function, its derivative by each argument, the same function of mpfs, and intervals worth a closer look.

    A derivative that TensorFlow does not have is None: there the gradient is unconnected.
    """

    f: Callable[..., Any]
    partials: tuple[Any, ...]
    exact: Callable[..., Any]
    domain: tuple[Interval, ...] = ((-4.0, 4.0), (-4.0, 4.0))


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays, evaluated in long double, or in twice float64 for complex numbers."""

    def evaluated(*xs: np.ndarray) -> np.ndarray:
        return np.asarray(function(*(x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble) for x in xs)))

    return evaluated


@wide
def one(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """1, whatever the arguments."""
    return np.ones(np.broadcast(x, y).shape, x.dtype)


@wide
def minus(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """-1, whatever the arguments."""
    return -np.ones(np.broadcast(x, y).shape, x.dtype)


def unless(zero: Callable[..., np.ndarray], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, but 0 where the arguments are such, whatever the function is there."""

    @wide
    def evaluated(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(zero(x, y), x.dtype.type(0), function(x, y))

    return evaluated


def _x_zero(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x == 0


def _y_zero(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return y == 0


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
    """trunc(x / y), likewise."""
    return np.where((x < 0) != (y < 0), -floor_of_quotient(-x, y), floor_of_quotient(x, y))


def _special(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of mpfs as one of float64 arrays; NaN arguments, and what mpmath refuses, give NaN."""

    @lru_cache(maxsize=1 << 17)
    def value(*arguments: float) -> np.longdouble:
        if any(isnan(a) for a in arguments):
            return np.longdouble(NAN)
        try:
            return long_double(mp.convert(function(*(mp.mpf(a) for a in arguments))))
        except (ValueError, ZeroDivisionError, mp.NoConvergence):
            return np.longdouble(NAN)

    def evaluated(*xs: np.ndarray) -> np.ndarray:
        every = np.broadcast_arrays(*xs)
        values = [value(*point) for point in zip(*(a.ravel().tolist() for a in every), strict=True)]
        return np.array(values, np.longdouble).reshape(every[0].shape)

    return evaluated


def _igamma(a: Any, x: Any) -> Any:
    """P(a, x), https://dlmf.nist.gov/8.2.E4; NaN for a <= 0 or x < 0."""
    if a <= 0 or x < 0 or (a == INF and x == INF):
        return NAN
    if x == 0 or a == INF or x == INF:
        return mp.mpf(1 if x == INF else 0)
    return mp.gammainc(a, 0, x, regularized=True)


def _igammac(a: Any, x: Any) -> Any:
    """Q(a, x) = 1 - P(a, x)."""
    if a <= 0 or x < 0 or (a == INF and x == INF):
        return NAN
    if x == 0 or a == INF or x == INF:
        return mp.mpf(0 if x == INF else 1)
    return mp.gammainc(a, x, INF, regularized=True)


def _gamma_density(a: Any, x: Any) -> Any:
    """dP/dx = x^(a-1) e^-x / Γ(a)."""
    if a <= 0 or x < 0:
        return NAN
    if x == 0:
        return INF if a < 1 else mp.mpf(a == 1)
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def _igamma_da(a: Any, x: Any) -> Any:
    """dP/da."""
    if a <= 0 or x < 0:
        return NAN
    return mp.diff(lambda t: _igamma(t, x), a) if x else mp.mpf(0)


igamma_da = _special(_igamma_da)
gamma_density = _special(_gamma_density)


def gamma_sample_da(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of a gamma variate x by its shape, -(dP/da) / (dP/dx): https://arxiv.org/abs/1805.08498."""
    return np.where(x == 0, 0, -igamma_da(a, x) / gamma_density(a, x))


def _zeta(s: Any, q: Any) -> Any:
    """Hurwitz' ζ(s, q), https://dlmf.nist.gov/25.11; for q < 0 real where s is an integer.

    At the poles q = 0, -1, … it is inf for even s; for other s it has no sign there, or is complex on one side: NaN.
    """
    if s <= 1:
        return INF if s == 1 else NAN
    if q <= 0 and q == mp.floor(q):
        return INF if s % 2 == 0 else NAN
    return NAN if q < 0 and s != mp.floor(s) else mp.zeta(s, q)


def _polygamma(n: Any, x: Any) -> Any:
    """ψ⁽ⁿ⁾(x), https://dlmf.nist.gov/5.15."""
    if n < 0 or n != mp.floor(n) or x == -INF or n == INF:
        return NAN
    if x == INF:
        return INF if n == 0 else mp.mpf(0)
    return mp.polygamma(int(n), x)


def _betainc(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), https://dlmf.nist.gov/8.17."""
    if a <= 0 or b <= 0 or x < 0 or x > 1:
        return NAN
    return mp.betainc(a, b, 0, x, regularized=True) if 0 < x < 1 else x


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    """dI/dx."""
    if a <= 0 or b <= 0 or x < 0 or x > 1:
        return NAN
    return mp.power(x, a - 1) * mp.power(1 - x, b - 1) / mp.beta(a, b)


def _pow_dx(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """y x^(y-1), which is 0 for y = 0, where x^y is 1 whatever x is."""
    return np.where(y == 0, 0, y * np.power(x, y - 1))


def _pow_dy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x^y log x, and nothing where log x is not real: https://github.com/tensorflow/tensorflow/issues/2295."""
    return np.power(x, y) * np.where(x > 0, np.log(np.where(x > 0, x, 1)), 0)


@wide
def _over(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 1 / y


@wide
def _quotient_dy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -x / y / y


def _product(x: Any, y: Any) -> Any:
    return x * y


def _quotient(x: Any, y: Any) -> Any:
    return x / y


_POSITIVE = ((0.1, 20.0), (0.1, 20.0))

FUNCTIONS: dict[str, Function] = {
    "add": Function(np.add, (one, one), lambda x, y: x + y),
    "atan2": Function(
        wide(np.arctan2),
        (wide(lambda y, x: x / (x * x + y * y)), wide(lambda y, x: -y / (x * x + y * y))),
        mp.atan2,
    ),
    "betainc": Function(
        _special(_betainc), (None, None, _special(_beta_density)), _betainc, ((0.2, 8.0), (0.2, 8.0), (0.0, 1.0))
    ),
    "div": Function(np.divide, (_over, _quotient_dy), _quotient),
    "div-no-nan": Function(
        unless(_y_zero, np.divide), (unless(_y_zero, _over), unless(_y_zero, _quotient_dy)), _quotient
    ),
    "floor-mod": Function(floor_mod, (one, wide(lambda x, y: -floored(x, y))), lambda x, y: x - y * mp.floor(x / y)),
    "igamma": Function(_special(_igamma), (igamma_da, gamma_density), _igamma, _POSITIVE),
    "igammac": Function(
        _special(_igammac), (lambda a, x: -igamma_da(a, x), lambda a, x: -gamma_density(a, x)), _igammac, _POSITIVE
    ),
    "mul": Function(np.multiply, (lambda x, y: y, lambda x, y: x), _product),
    "mul-no-nan": Function(unless(_y_zero, np.multiply), (unless(_y_zero, lambda x, y: y), lambda x, y: x), _product),
    "polygamma": Function(
        _special(_polygamma), (None, _special(lambda n, x: _polygamma(n + 1, x))), _polygamma, ((0.0, 5.0), (0.1, 20.0))
    ),
    "pow": Function(wide(np.power), (wide(_pow_dx), wide(_pow_dy)), mp.power, ((0.01, 20.0), (-8.0, 8.0))),
    "squared-difference": Function(
        wide(lambda x, y: (x - y) ** 2),
        (wide(lambda x, y: 2 * (x - y)), wide(lambda x, y: -2 * (x - y))),
        lambda x, y: (x - y) ** 2,
    ),
    "sub": Function(np.subtract, (one, minus), lambda x, y: x - y),
    "xdivy": Function(unless(_x_zero, np.divide), (_over, unless(_x_zero, _quotient_dy)), _quotient),
    "xlog1py": Function(
        unless(_x_zero, lambda x, y: x * np.log1p(y)),
        (wide(lambda x, y: np.log1p(y)), unless(_x_zero, lambda x, y: x / (1 + y))),
        lambda x, y: x * mp.log1p(y),
        ((-4.0, 4.0), (-0.9, 4.0)),
    ),
    "xlogy": Function(
        unless(_x_zero, lambda x, y: x * np.log(y)),
        (wide(lambda x, y: np.log(y)), unless(_x_zero, np.divide)),
        lambda x, y: x * mp.log(y),
        ((-4.0, 4.0), (0.1, 4.0)),
    ),
    "zeta": Function(
        _special(_zeta), (None, _special(lambda s, q: -s * _zeta(s + 1, q))), _zeta, ((1.1, 12.0), (0.1, 20.0))
    ),
}
