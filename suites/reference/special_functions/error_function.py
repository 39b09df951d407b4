"""The complementary error function, the inverse error function, and the quantile of the normal distribution."""

from __future__ import annotations

from typing import Any

from tf_opdiff.suites.reference.promises.wide import NAN, mp


def erfc(x: Any) -> Any:
    """erfc(x); mp.erfc fails far out, where erfc is 0, or 2, in any float."""
    return mp.erfc(x) if abs(x) < 1000 else mp.mpf(2 if x < 0 else 0)


def erfinv(x: Any) -> Any:
    """The inverse error function."""
    return mp.erfinv(x) if abs(x) < 1 else NAN


def ndtri(x: Any) -> Any:
    """The quantile of the normal distribution, -√2 erfcinv(2 x); in the lower tail by Newton's steps on log erfc."""
    if not 0 < x < 1:
        return NAN
    if x > 0.1:
        return mp.sqrt(2) * mp.erfinv(2 * x - 1)
    y, step = mp.sqrt(-mp.log(2 * x)), mp.one
    while abs(step) > mp.eps * y:
        tail = mp.erfc(y)
        step = mp.log(tail / (2 * x)) * tail * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step
    return -mp.sqrt(2) * y
