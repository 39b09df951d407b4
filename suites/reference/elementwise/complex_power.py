"""Powers of complex numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.elementwise.complex import continued, from_parts, log1p
from tf_opdiff.suites.reference.promises.wide import long_double, mp


def logarithm1p(y: np.ndarray) -> np.ndarray:
    """log(1 + y) of complex numbers with special parts, in their dtype: by annex G where a part is not finite."""
    finite = np.isfinite(y)
    values = np.log1p(y.astype(np.clongdouble))
    values[finite] = continued(log1p)(y[finite])
    return values.astype(y.dtype)


def exponent_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """y log x, as a product of two complex numbers in long double; 0 where y is 0 or x is 1."""
    y, logs = y.astype(np.clongdouble), np.log(x.astype(np.clongdouble))
    exponent = from_parts(y.real * logs.real - y.imag * logs.imag, y.real * logs.imag + y.imag * logs.real)
    return np.where(np.isfinite(x) & np.isfinite(y) & ((y == 0) | (x == 1)), 0, exponent)


def unrecovered(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether y log x is NaN, and the recovery of annex G.5 would make it an infinity, as one of its factors is one."""
    logs, exponent = np.log(x.astype(np.clongdouble)), exponent_of(x, y)
    endless = [np.isinf(z.real) | np.isinf(z.imag) for z in (logs, y)]
    return (endless[0] | endless[1]) & (np.isnan(exponent.real) | np.isnan(exponent.imag))


def power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x^y for complex numbers with special parts: the right power of finite numbers, exp(y log x) of all others."""
    values = np.exp(exponent_of(x, y))
    for i in zip(*np.nonzero(np.isfinite(x) & np.isfinite(y)), strict=True):
        values.real[i], values.imag[i] = _power(complex(x[i]), complex(y[i]), np.signbit(x[i].imag))
    return values


@lru_cache(maxsize=1 << 16)
def _power(x: complex, y: complex, below: bool) -> tuple[Any, Any]:
    """The parts of x^y, on the branch cut from the side that the sign of a zero imaginary part tells."""
    if x == 0 and y.real == 0:
        return (np.longdouble(1), np.longdouble(0)) if y == 0 else (np.longdouble(np.nan),) * 2
    if x == 0:
        return (np.longdouble(0 if y.real > 0 else np.inf),) * 2
    with mp.workprec(mp.prec + 1200):
        log = mp.log(mp.mpc(x.real, x.imag))
        log = mp.conj(log) if below and not x.imag and x.real < 0 else log
        exponent = mp.mpc(y.real, y.imag) * log
        size, angle = max(min(exponent.real, 20000), -20000), exponent.imag
        return long_double(mp.exp(size) * mp.cos(angle)), long_double(mp.exp(size) * mp.sin(angle))
