"""References of special functions of several arguments, as functions of mpfs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tf_opdiff.suites.reference.function import evaluated
from tf_opdiff.suites.reference.wide import INF, NAN, mp


def igamma(a: Any, x: Any) -> Any:
    """P(a, x), https://dlmf.nist.gov/8.2.E4; NaN for a <= 0 or x < 0."""
    if a <= 0 or x < 0 or (a == INF and x == INF):
        return NAN
    if x == 0 or a == INF or x == INF:
        return mp.mpf(1 if x == INF else 0)
    return mp.gammainc(a, 0, x, regularized=True)


def igammac(a: Any, x: Any) -> Any:
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
    return mp.diff(lambda t: igamma(t, x), a) if x else mp.mpf(0)


igamma_da = evaluated(_igamma_da)
gamma_density = evaluated(_gamma_density)


def gamma_sample_da(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The derivative of a gamma variate x by its shape, -(dP/da) / (dP/dx): https://arxiv.org/abs/1805.08498."""
    return np.where(x == 0, 0, -igamma_da(a, x) / gamma_density(a, x))


def zeta(s: Any, q: Any) -> Any:
    """Hurwitz' ζ(s, q), https://dlmf.nist.gov/25.11; for q < 0 real where s is an integer.

    At the poles q = 0, -1, … it is inf for even s; for other s it has no sign there, or is complex on one side: NaN.
    """
    if s <= 1:
        return INF if s == 1 else NAN
    if q <= 0 and q == mp.floor(q):
        return INF if s % 2 == 0 else NAN
    return NAN if q < 0 and s != mp.floor(s) else mp.zeta(s, q)


def polygamma(n: Any, x: Any) -> Any:
    """ψ⁽ⁿ⁾(x), https://dlmf.nist.gov/5.15."""
    if n < 0 or n != mp.floor(n) or x == -INF or n == INF:
        return NAN
    if x == INF:
        return INF if n == 0 else mp.mpf(0)
    return mp.polygamma(int(n), x)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), https://dlmf.nist.gov/8.17."""
    if a <= 0 or b <= 0 or x < 0 or x > 1:
        return NAN
    return mp.betainc(a, b, 0, x, regularized=True) if 0 < x < 1 else x


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """dI/dx."""
    if a <= 0 or b <= 0 or x < 0 or x > 1:
        return NAN
    return mp.power(x, a - 1) * mp.power(1 - x, b - 1) / mp.beta(a, b)
