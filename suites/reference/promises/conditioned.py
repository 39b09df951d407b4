"""Conditioned: the promise of a formula of floats, with its Jacobian by complex steps and errors by its condition.

A program that computes y = f(x) with n roundings, each of the size of an input, of a result or of a step between them,
is off by at most about n u (|y| + |J| |x|), where J is the Jacobian (Higham, Accuracy and Stability, section 1.6). Its
gradient Jᵀ g adds products of the sizes |J|ᵀ |g|.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.complex_step import along
from tf_opdiff.suites.reference.promises.promise import Promise, together
from tf_opdiff.suites.reference.reductions.reduction import long

Array = np.ndarray


class Conditioned(Promise):
    """The promise of a formula: an analytic function of its float inputs near each case, or several as a tuple.

    formula     formula(*xs) → the results. It gets long doubles, and complex ones for the Jacobian: it compares real
                parts only, and takes no absolute values of complex numbers. Integers stay as they are.
    units       the roundings of an element, on top of one for each input element on which it depends but one. 0: the
                formula moves and adds numbers only.
    grad_units  those of an element of a gradient; by default the same.
    outputs     the number of results.
    """

    rounded = ("output", "grad")

    def __init__(
        self, formula: Callable[..., Any], units: float, *, grad_units: float | None = None, outputs: int = 1
    ) -> None:
        self.formula, self.units, self.bounded = formula, units, outputs
        self.grad_units = units if grad_units is None else grad_units
        self._last: tuple[Any, Any] = (None, None)

    def f(self, *xs: Array) -> Any:
        results = tuple(map(np.asarray, together(self.formula(*map(long, xs)))))
        return results if self.bounded > 1 else results[0]

    def vjp(self, g: Any, *xs: Array) -> tuple[Any, ...]:
        return tuple(self._pulled(g, xs, i, np.asarray) for i in range(len(xs)))

    def error(self, u: float, *xs: Array) -> Any:
        """For each result, an array of its shape."""
        errors = []
        for k, y in enumerate(together(self.f(*xs))):
            size, terms = np.abs(y), np.zeros(y.shape)
            for x, columns in zip(xs, self._jacobian(xs), strict=True):
                for element, column in zip(x.flat, columns or (), strict=False):
                    size = size + np.abs(column[k] * element)
                    terms = terms + (column[k] != 0)
            errors.append(self._roundings(self.units, terms) * u * size.astype(np.float64))
        return tuple(errors) if self.bounded > 1 else errors[0]

    def grad_error(self, i: int, u: float, g: Any, *xs: Array) -> Any:
        if xs[i].dtype.kind != "f":
            return 0.0
        terms = np.array([sum(int(np.sum(c != 0)) for c in column) for column in self._jacobian(xs)[i]], float)
        size = self._pulled(g, xs, i, np.abs)
        return self._roundings(self.grad_units, terms.reshape(xs[i].shape)) * u * size.astype(np.float64)

    @staticmethod
    def _roundings(units: float, terms: Array) -> Array:
        return np.asarray(units + np.maximum(terms - 1, 0))

    def _pulled(self, g: Any, xs: Any, i: int, part: Callable[..., Array]) -> Any:
        """Σ g J by input i, of the parts of both, such as their sizes; None for integers."""
        columns = self._jacobian(xs)[i]
        if columns is None:
            return None
        gs = [part(long(np.asarray(one))) for one in together(g)]
        sums = [sum(np.sum(one * part(c)) for one, c in zip(gs, column, strict=True)) for column in columns]
        return np.array(sums, np.longdouble).reshape(xs[i].shape)

    def _jacobian(self, xs: Any) -> list[list[tuple[Array, ...]] | None]:
        """For each float input, the derivatives of all results by each of its elements; None for integers."""
        key = tuple((x.tobytes(), x.shape, x.dtype.str) for x in xs)
        if self._last[0] != key:
            self._last = key, [self._columns(xs, i) if x.dtype.kind == "f" else None for i, x in enumerate(xs)]
        every: list[list[tuple[Array, ...]] | None] = self._last[1]
        return every

    def _columns(self, xs: Any, i: int) -> list[tuple[Array, ...]]:
        columns = []
        tangents = [np.zeros_like(x) for x in xs]
        for place in np.ndindex(xs[i].shape):
            tangents[i][place] = 1
            columns.append(along(self.formula, xs, tangents))
            tangents[i][place] = 0
        return columns


