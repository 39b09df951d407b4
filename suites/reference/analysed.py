"""Analysed: a promise whose formulas give results and, by a running error analysis, their errors."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear import Array, Numbers, running
from tf_opdiff.suites.reference.promise import Promise
from tf_opdiff.suites.reference.reduction import long
from tf_opdiff.suites.reference.running import Running
from tf_opdiff.suites.reference.subnormal import flushed_in


class Analysed(Promise):
    """A promise that a subclass gives by formulas for arrays, or for arrays with their errors."""

    @abstractmethod
    def formula(self, *xs: Numbers) -> Numbers:
        """The result."""

    @abstractmethod
    def back(self, g: Numbers, *xs: Numbers) -> tuple[Numbers, ...]:
        """The gradients by all inputs."""

    @abstractmethod
    def along(self, ts: Any, *xs: Numbers) -> Numbers:
        """Forward mode along a list of tangents."""

    @abstractmethod
    def curved(self, g: Numbers, ts: Any, *xs: Numbers) -> tuple[Numbers, ...]:
        """The derivatives of the gradients along a list of tangents."""

    def f(self, *xs: Array) -> Any:
        return self.formula(*map(long, xs))

    def vjp(self, g: Array, *xs: Array) -> tuple[Any, ...]:
        return self.back(long(g), *map(long, xs))

    def jvp(self, ts: Any, *xs: Array) -> Any:
        return self.along([*map(long, ts)], *map(long, xs))

    def hvp(self, g: Array, ts: Any, *xs: Array) -> tuple[Any, ...]:
        return self.curved(long(g), [*map(long, ts)], *map(long, xs))

    def error(self, u: float, *xs: Array) -> Any:
        return _error(u, self.formula(*_all(u, xs)))

    def grad_error(self, i: int, u: float, g: Array, *xs: Array) -> Any:
        return _error(u, self.back(running(u, g), *_all(u, xs))[i])

    def jvp_error(self, u: float, ts: Any, *xs: Array) -> Any:
        return _error(u, self.along(_all(u, ts), *_all(u, xs)))

    def hvp_error(self, i: int, u: float, g: Array, ts: Any, *xs: Array) -> Any:
        return _error(u, self.curved(running(u, g), _all(u, ts), *_all(u, xs))[i])

    def others(self, dtype: np.dtype, *xs: Array) -> list[Array]:
        """The results where subnormals are flushed: those of the inputs, of the result, of both."""
        small = self.f(*(flushed_in(dtype, x) for x in xs))
        return [small, *(flushed_in(dtype, _narrow(y)) for y in (self.f(*xs), small))]


def _narrow(y: Array) -> Array:
    return np.asarray(y, np.complex128 if y.dtype.kind == "c" else np.float64)


def _all(u: float, xs: Any) -> list[Running]:
    return [running(u, x) for x in xs]


def _error(u: float, y: Running) -> Array:
    """The error of a result, and its rounding to the dtype."""
    return np.asarray(y.error + u * np.abs(y.value), np.float64)
