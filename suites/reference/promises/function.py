"""Function: a function of several arguments with its derivatives, in long double and in mpmath.

Operations that IEEE 754 rounds exactly (+ - × ÷) are done in the 64 bits of a long double. So are pow and atan2, which
follow the tables of special values in C99, annex F.9. Special functions take mpmath's 160 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import isnan
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.tolerances import precision
from tf_opdiff.suites.reference.promises.wide import NAN, long_double, mp

#: Enough bits for the remainder of a division of any two float64 numbers.
_BITS = 2300
#: The relative difference of a value in float64 or long double from that of mpmath, at the most.
_NEAR = 2.0**-48
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function of arrays, which a spec can have as its reference.

    f           the function.
    partials    its derivative by each argument; None where TensorFlow has none: there the gradient is unconnected.
    exact       the same function of mpfs, with which the project's tests compare `f` and `partials`.
    domain      the interval of each argument that is worth a closer look.
    whole       the arguments, by number, that have to be whole numbers.
    wider       the same function in long double, which specs promise if `f` has float64 results: recipes go by `f`.
    """

    f: Callable[..., Any]
    partials: tuple[Callable[..., Any] | None, ...]
    exact: Callable[..., Any]
    domain: tuple[Interval, ...] = ((-4.0, 4.0), (-4.0, 4.0))
    whole: tuple[int, ...] = ()
    wider: Function | None = None

    def __call__(self, *xs: np.ndarray) -> Any:
        values = self.f(*xs)
        return self._exactly(values, xs) if precision.certain() else values

    def _exactly(self, values: np.ndarray, xs: tuple[np.ndarray, ...]) -> np.ndarray:
        """The values of `f`, with those of `exact` in place of finite numbers that are near them: mpmath has no -0."""
        if getattr(self.f, "exact", None) is self.exact:
            return values
        result = values.astype(np.longdouble)
        plain = np.isfinite(values) & (values != 0) & np.all(np.isfinite(xs), axis=0)
        with mp.workprec(_BITS):
            exact, near = evaluated(self.exact)(*(x[plain] for x in xs)), result[plain]
        result[plain] = np.where(np.abs(exact - near) <= _NEAR * np.abs(near), exact, near)
        return result


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays, evaluated in long double, complex numbers in two long doubles."""

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
    """The function, but 0 where `zero(x, y)` holds, whatever the function is there."""

    @wide
    def evaluated(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(zero(x, y), x.dtype.type(0), function(x, y))

    return evaluated


def x_zero(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where x is 0."""
    return x == 0


def y_zero(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where y is 0."""
    return y == 0


def evaluated(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of mpfs as one of float64 arrays; NaN arguments, and those that mpmath refuses, give NaN."""

    @lru_cache(maxsize=1 << 17)
    def value(*arguments: float) -> np.longdouble:
        if any(isnan(a) for a in arguments):
            return np.longdouble(NAN)
        try:
            return long_double(mp.convert(function(*(mp.mpf(a) for a in arguments))))
        except (ValueError, ZeroDivisionError, mp.NoConvergence):
            return np.longdouble(NAN)

    def values(*xs: np.ndarray) -> np.ndarray:
        every = np.broadcast_arrays(*xs)
        flat = [value(*point) for point in zip(*(a.ravel().tolist() for a in every), strict=True)]
        return np.array(flat, np.longdouble).reshape(every[0].shape)

    values.exact = function  # type: ignore[attr-defined]
    return values
