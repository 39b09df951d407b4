"""Conditioned: the promise of a formula of floats, with its Jacobian by complex steps and errors by its condition.

A program that computes y = f(x) with n roundings, each of the size of an input, of a result or of a step between them,
is off by at most about n u (|y| + |J| |x|), where J is the Jacobian (Higham, Accuracy and Stability, section 1.6). Its
gradient Jᵀ g adds products of the sizes |J|ᵀ |g|, and changes when the inputs do: random directions show how much.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.reference.promises.complex_step import along
from tf_opdiff.suites.reference.promises.promise import Promise, together
from tf_opdiff.suites.reference.reductions.reduction import long

Array = np.ndarray
#: For each element of an input, the derivatives of all results.
Columns = list[tuple[Array, ...]]
#: The columns of each input.
Jacobian = list[Columns | None]
#: How far the elements move for the condition of a gradient, relative to themselves; along how many random directions;
#: how many times a random sum of their effects may be smaller than the sum of their sizes.
_STEP, _SIDES, _SPREAD = 2.0**-20, 4, 4.0


class Conditioned(Promise):
    """The promise of a formula: an analytic function of its float inputs near each case, or several as a tuple.

    formula     formula(*xs) → the results. It gets long doubles, and complex ones for the Jacobian: it compares real
                parts only, and takes no absolute values of complex numbers. Integers stay as they are.
    units       the roundings of an element, on top of one for each input element on which it depends but one. 0: the
                formula moves numbers only.
    grad_units  those of an element of a gradient; by default the same.
    outputs     the number of results.
    unconnected the numbers of the inputs without a gradient.
    mistaken_formula    the formula that TensorFlow computes in its place because of a known failure.
    """

    rounded = ("output", "grad")

    def __init__(
        self,
        formula: Callable[..., Any],
        units: float,
        *,
        grad_units: float | None = None,
        outputs: int = 1,
        unconnected: Collection[int] = (),
        mistaken_formula: Callable[..., Any] | None = None,
    ) -> None:
        self.formula, self.units, self.bounded, self.unconnected = formula, units, outputs, unconnected
        self._mistaken = mistaken_formula
        self.grad_units = units if grad_units is None else grad_units
        self._last: dict[str, tuple[Any, Any]] = {}

    @property
    def mistaken(self) -> Promise | None:
        """The promise of the mistaken formula."""
        own = self._mistaken
        return own and Conditioned(own, self.units, outputs=self.bounded, unconnected=self.unconnected)

    def f(self, *xs: Array) -> Any:
        results = tuple(map(np.asarray, together(self.formula(*map(long, xs)))))
        return results if self.bounded > 1 else results[0]

    def vjp(self, g: Any, *xs: Array) -> tuple[Any, ...]:
        every = zip(xs, self._jacobian(xs), strict=True)
        return tuple(
            None if columns is None or i in self.unconnected else _pulled(g, columns, np.asarray).reshape(x.shape)
            for i, (x, columns) in enumerate(every)
        )

    def error(self, u: float, *xs: Array) -> Any:
        """For each result, an array of its shape; 0 of numbers that are moved."""
        if not self.units:
            return (0.0,) * self.bounded if self.bounded > 1 else 0.0
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
        if i in self.unconnected or xs[i].dtype.kind != "f":
            return 0.0
        columns = self._jacobian(xs)[i] or []
        terms = np.array([sum(int(np.sum(c != 0)) for c in column) for column in columns], float)
        size = _pulled(g, columns, np.abs).astype(np.float64)
        if self.units:
            changes = [_pulled(g, moved[i], np.asarray) - _pulled(g, columns, np.asarray) for moved in self._around(xs)]
            size = size + _SPREAD * np.max(np.abs(changes), axis=0).astype(np.float64) / _STEP
        return (self._roundings(self.grad_units, terms) * u * size).reshape(xs[i].shape)

    @staticmethod
    def _roundings(units: float, terms: Array) -> Array:
        return np.asarray(units + np.maximum(terms - 1, 0))

    def _jacobian(self, xs: Any) -> Jacobian:
        """For each float input, the derivatives of all results by each of its elements; None for integers."""
        return self._kept("at", xs, lambda: [self._columns(xs, i) for i in range(len(xs))])

    def _around(self, xs: Any) -> list[Jacobian]:
        """The Jacobians near the inputs: every element moves up or down by a small part of itself."""
        draw = Draw(0)
        signs = [[2.0 * draw.booleans(*x.shape) - 1 for x in xs] for _ in range(_SIDES)]
        moved = [
            [long(x) * (1 + _STEP * s) if x.dtype.kind == "f" else x for x, s in zip(xs, side, strict=True)]
            for side in signs
        ]
        return self._kept("around", xs, lambda: [[self._columns(at, i) for i in range(len(xs))] for at in moved])

    def _kept(self, kind: str, xs: Any, compute: Callable[[], Any]) -> Any:
        """What `compute` gives for the last inputs."""
        key = tuple((x.tobytes(), x.shape, x.dtype.str) for x in xs)
        if self._last.get(kind, (None, None))[0] != key:
            self._last[kind] = key, compute()
        return self._last[kind][1]

    def _columns(self, xs: Any, i: int) -> Columns | None:
        if xs[i].dtype.kind != "f":
            return None
        columns = []
        tangents = [np.zeros_like(x) for x in xs]
        for place in np.ndindex(xs[i].shape):
            tangents[i][place] = 1
            columns.append(along(self.formula, xs, tangents))
            tangents[i][place] = 0
        return columns


def _pulled(g: Any, columns: Columns | None, part: Callable[..., Array]) -> Array:
    """Σ g J by an input, of the parts of both, such as their sizes; one number for each element."""
    gs = [part(long(np.asarray(one))) for one in together(g)]
    return np.array(
        [sum(np.sum(one * part(c)) for one, c in zip(gs, column, strict=True)) for column in columns or ()],
        np.longdouble,
    )
