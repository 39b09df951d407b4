"""Wide: a function of mpmath's numbers, in 160 bits, as a function of arrays that gives long doubles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import isnan
from typing import Any

import mpmath
import numpy as np

from tf_opdiff.harness.spec.tolerances import precision

mp = mpmath.mp.clone()
mp.prec = 160
INF, NAN = float("inf"), float("nan")


def long_double(value: Any) -> np.longdouble:
    """An mpf as a long double, rounded once; a complex number, the value outside a real domain, as NaN."""
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


@dataclass(frozen=True, eq=False)
class Wide:
    """A function of an mpf as a function of float64 arrays of any shape; the result is an array of long doubles.

    f           the function; NaN gives NaN, and so does an argument outside the domain.
    at          argument → value, where f is not defined, as at a pole or at infinity, or has a kink.
    odd         whether f(-0) is -f(+0); mpmath has no -0. Otherwise f(-0) is f(+0).
    float64     the function in float64, vectorised. It takes the place of f where that is precise enough: in a sweep
                of a narrower dtype, which holds a sample of its inputs against f.
    """

    f: Callable[[Any], Any]
    at: Mapping[float, float] = field(default_factory=dict)
    odd: bool = False
    float64: Callable[[np.ndarray], Any] | None = None

    def __call__(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, np.float64)
        if self.float64 and precision.allowed() and (quick := precision.computed(self.float64, x)) is not None:
            return quick
        values = [_value(self.f, tuple(self.at.items()), v) for v in x.ravel().tolist()]
        result = np.array(values, np.longdouble).reshape(x.shape)
        return np.where((x == 0) & np.signbit(x), -result, result) if self.odd else result


@lru_cache(maxsize=1 << 17)
def _value(f: Callable[[Any], Any], at: tuple[tuple[float, float], ...], x: float) -> np.longdouble:
    for point, value in at:
        if x == point or (isnan(x) and isnan(point)):
            return np.longdouble(value)
    if isnan(x):
        return np.longdouble(NAN)
    try:
        return long_double(mp.convert(f(mp.mpf(x))))
    except ValueError:  # mpmath raises it outside the domain
        return np.longdouble(NAN)


@dataclass(frozen=True)
class Differentiable:
    """A function, its derivative, and the interval in which both are worth a closer look."""

    f: Wide
    df: Wide
    domain: tuple[float, float] = (-4.0, 4.0)
