"""Analysed: a promise whose formulas give results and, by a running error analysis, their errors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.linear import Array, Numbers, running
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.promises.running import Running
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes
from tf_opdiff.suites.reference.reductions.reduction import long


class Analysed(Promise):
    """A promise that a subclass gives by formulas for arrays, or for arrays with their errors.

    A formula of several results gives a tuple. All functions take the attributes of a call as keyword arguments.
    """

    @abstractmethod
    def formula(self, *xs: Numbers, **attrs: Any) -> Numbers:
        """The result."""

    def back(self, g: Numbers, *xs: Numbers, **attrs: Any) -> tuple[Numbers, ...]:
        """The gradients by all inputs, None where one is unconnected."""
        raise NotImplementedError

    def along(self, ts: Any, *xs: Numbers, **attrs: Any) -> Numbers:
        """Forward mode along a list of tangents."""
        raise NotImplementedError

    def curved(self, g: Numbers, ts: Any, *xs: Numbers, **attrs: Any) -> tuple[Numbers, ...]:
        """The derivatives of the gradients along a list of tangents."""
        raise NotImplementedError

    def running(self, u: float, x: Array) -> Running:
        """An input without errors."""
        return running(u, x)

    def error_of(self, u: float, y: Running, n: int) -> Array:
        """The error of a result, and its rounding to the dtype; `n` is the number of the output or of the input."""
        return np.asarray(y.error + u * np.abs(y.value), np.float64)

    def f(self, *xs: Array, **attrs: Any) -> Any:
        return self.formula(*map(long, xs), **attrs)

    def vjp(self, g: Array, *xs: Array, **attrs: Any) -> tuple[Any, ...]:
        return self.back(_each(long, g), *map(long, xs), **attrs)

    def jvp(self, ts: Any, *xs: Array, **attrs: Any) -> Any:
        return self.along([*map(long, ts)], *map(long, xs), **attrs)

    def hvp(self, g: Array, ts: Any, *xs: Array, **attrs: Any) -> tuple[Any, ...]:
        return self.curved(long(g), [*map(long, ts)], *map(long, xs), **attrs)

    def error(self, u: float, *xs: Array, **attrs: Any) -> Any:
        return self._errors(u, self.formula(*self._all(u, xs), **attrs))

    def grad_error(self, i: int, u: float, g: Array, *xs: Array, **attrs: Any) -> Any:
        by = self.back(_each(partial(self.running, u), g), *self._all(u, xs), **attrs)[i]
        return 0.0 if by is None else self.error_of(u, by, i)

    def jvp_error(self, u: float, ts: Any, *xs: Array, **attrs: Any) -> Any:
        return self._errors(u, self.along(self._all(u, ts), *self._all(u, xs), **attrs))

    def hvp_error(self, i: int, u: float, g: Array, ts: Any, *xs: Array, **attrs: Any) -> Any:
        by = self.curved(self.running(u, g), self._all(u, ts), *self._all(u, xs), **attrs)[i]
        return 0.0 if by is None else self.error_of(u, by, i)

    def _all(self, u: float, xs: Any) -> list[Running]:
        return [self.running(u, x) for x in xs]

    def _errors(self, u: float, results: Any) -> Any:
        if not isinstance(results, tuple):
            return self.error_of(u, results, 0)
        return tuple(self.error_of(u, y, n) for n, y in enumerate(results))

    def alternatives(self, dtype: np.dtype, *xs: Array, **attrs: Any) -> Others:
        """The results where subnormals are flushed: those of the inputs, of the result, of both."""
        small = self.f(*(flushed_in(dtype, x) for x in xs), **attrs)
        return wholes(small, *(flushed_in(dtype, _narrow(y)) for y in (self.f(*xs, **attrs), small)))


def _narrow(y: Array) -> Array:
    return np.asarray(y, np.complex128 if y.dtype.kind == "c" else np.float64)


def _each(function: Callable[[Any], Any], g: Any) -> Any:
    """A function of an upstream, or of each of several."""
    return tuple(map(function, g)) if isinstance(g, tuple) else function(g)
