"""Hurwitz' zeta function and the derivatives of digamma, as functions of mpfs."""

from __future__ import annotations

from typing import Any

from tf_opdiff.suites.reference.promises.wide import INF, NAN, mp

#: Beyond this, mpmath's series take too many terms, or do not converge.
_LARGE = 10**6


def zeta(s: Any, q: Any) -> Any:
    """Hurwitz' ζ(s, q), https://dlmf.nist.gov/25.11; for q < 0 real where s is an integer.

    At the poles q = 0, -1, … it is inf for even s; for other s it has no sign there, or is complex on one side: NaN.
    """
    if s <= 1:
        return INF if s == 1 else NAN
    if q == -INF:
        return NAN
    if q == INF or (s == INF and q >= 1):
        return mp.mpf(s == INF and q == 1)
    if s == INF:
        return INF if q >= 0 else NAN
    if q <= 0 and q == mp.floor(q):
        return INF if s % 2 == 0 else NAN
    if q < 0:
        return _left_of_zero(s, q) if s == mp.floor(s) else NAN
    if q > _LARGE or s > _LARGE:  # https://dlmf.nist.gov/25.11.E43; the next term is smaller by (s / q)^2 / 12
        return _far_zeta(s, q)
    if q > 1 and s * mp.log(q, 2) > _LOST:
        return q**-s
    with mp.workprec(mp.prec + int(s * max(0, mp.mag(q)))):  # mpmath's precision is absolute
        return mp.zeta(s, q)


def zeta_ds(s: Any, q: Any) -> Any:
    """The derivative of ζ(s, q) by s, for s > 1 and 0 < q < 10^6."""
    return mp.zeta(s, q, 1)


#: A number below 2 to the power of minus this is less than every long double.
_LOST = 20000


def _far_zeta(s: Any, q: Any) -> Any:
    """ζ(s, q) where s or q is large: its first terms, or the first terms of its asymptotic series."""
    if s > q:
        return mp.fsum((q + k) ** -s for k in range(3))
    series = [q / (s - 1), mp.mpf(0.5), s / (12 * q), -s * (s + 1) * (s + 2) / (720 * q**3)]
    return q**-s * mp.fsum(series)


def _left_of_zero(s: Any, q: Any) -> Any:
    """ζ(s, q) for q < 0 and an integer s: the terms left of zero, and the function right of it."""
    count = int(mp.ceil(-q))
    with mp.workprec(mp.prec + 4 * int(min(s, 4096)) * max(1, mp.mag(q))):  # terms of both signs cancel
        return mp.fsum((q + k) ** -s for k in range(count)) + zeta(s, q + count)


def polygamma(n: Any, x: Any) -> Any:
    """ψ⁽ⁿ⁾(x), https://dlmf.nist.gov/5.15; at its poles inf for odd n, and NaN for even n, whose sides differ."""
    if n < 0 or n != mp.floor(n) or x == -INF or n == INF:
        return NAN
    if x == INF:
        return INF if n == 0 else mp.mpf(0)
    if x <= 0 and x == mp.floor(x):
        return INF if n % 2 else NAN
    if n == 0 or (n < 1000 and x < _LARGE):
        with mp.workprec(mp.prec + int(n + 1) * max(0, mp.mag(x))):  # mpmath's precision is absolute
            return mp.polygamma(int(n), x)
    return (-1) ** int(n % 2 + 1) * mp.exp(mp.loggamma(n + 1) + mp.log(zeta(n + 1, x)))  # https://dlmf.nist.gov/5.15.E2
