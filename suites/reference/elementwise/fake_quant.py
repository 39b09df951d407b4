"""Fake quantisation: tensors, clipped to a range and rounded to levels that include 0, in long double."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.elementwise.quantization import Grid, others, spread
from tf_opdiff.suites.reference.promises.accumulation import sum_error
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in
from tf_opdiff.suites.reference.reductions.reduction import long


@dataclass(frozen=True, kw_only=True)
class FakeQuant(Promise):
    """A tensor, clipped to a range and rounded to 2^bits levels that include 0.

    Source: https://www.tensorflow.org/api_docs/python/tf/quantization/fake_quant_with_min_max_vars

    narrow      whether there is one level less.
    limits      the range, if it is no input.
    channels    whether each channel, along the last axis, has a range of its own.
    """

    bits: int = 8
    narrow: bool = False
    limits: tuple[float, ...] = ()
    channels: bool = False

    def grid(self, x: np.ndarray, *ends: np.ndarray) -> Grid:
        """The levels: the range is moved so that 0 is one of them. Halves are rounded away from zero."""
        axis, levels = -1 if self.channels else None, 2**self.bits - 1 - self.narrow
        low, high = (spread(np.asarray(end, np.float64), x, axis) for end in ends or self.limits)
        zero = np.clip(np.floor(-low * levels / (high - low) + 0.5), 0, levels)
        step = (high - low) / levels
        return Grid(step, -zero * step, levels)

    def f(self, x: np.ndarray, *ends: np.ndarray) -> np.ndarray:
        grid = self.grid(x, *ends)
        return grid.at(np.floor(grid.places(x) + 0.5))

    def error(self, u: float, x: np.ndarray, *ends: np.ndarray) -> np.ndarray:
        return self.grid(x, *ends).error(u, x)

    def alternatives(self, dtype: np.dtype, x: np.ndarray, *ends: np.ndarray) -> Others:
        return self.grid(x, *ends).neighbours(dtype, x, self.f(x, *ends))

    def vjp(self, g: np.ndarray, x: np.ndarray, *ends: np.ndarray) -> tuple[np.ndarray, ...]:
        """The upstream times 1 inside of the moved range, and its sum beyond an end; 0 times an infinity is NaN."""
        parts = [long(g) * where for where in self.parts(x, *ends)]
        return tuple(self._summed(part, i) for i, part in enumerate(parts[: 1 + len(ends)]))

    def grad_error(self, i: int, u: float, g: np.ndarray, x: np.ndarray, *ends: np.ndarray) -> Any:
        if i == 0:
            return 0.0
        terms = np.where(self.parts(x, *ends)[i], g, 0)
        return np.squeeze(sum_error(u, terms, self._axes(x)), self._axes(x))

    def grad_alternatives(self, i: int, dtype: np.dtype, g: np.ndarray, x: np.ndarray, *ends: np.ndarray) -> Others:
        """The sums of flushed subnormals, and the sums of chosen elements in place of a product with 0."""
        small = flushed_in(dtype, g)
        pairs = [(h, y) for h in (g, small) for y in (x, flushed_in(dtype, x))]
        sums = [self.vjp(h, y, *ends)[i] for h, y in pairs]
        chosen = [self._summed(np.where(self.parts(y, *ends)[i], long(h), 0), i) for h, y in pairs]
        both = [*zip(sums, chosen, strict=True)]
        return [
            chosen[0],
            *both,
            *((flushed_in(dtype, total), flushed_in(dtype, of_chosen)) for total, of_chosen in both),
        ]

    def jvp(self, ts: Any, x: np.ndarray, *ends: np.ndarray) -> np.ndarray:
        """As the gradient: the tangents of the tensor inside of the range, and those of its ends beyond them."""
        axis = -1 if self.channels else None
        along = (long(ts[0]), *(spread(t, x, axis) for t in ts[1:]))
        return np.asarray(sum(np.where(where, t, 0) for where, t in zip(self.parts(x, *ends), along, strict=False)))

    def parts(self, x: np.ndarray, *ends: np.ndarray) -> tuple[np.ndarray, ...]:
        """Whether each element is inside of the moved range, below it, and above it."""
        grid = self.grid(x, *ends)
        return (x >= grid.first) & (x <= grid.last), x < grid.first, x > grid.last

    def _summed(self, x: np.ndarray, i: int) -> np.ndarray:
        """The elements of the gradient by the tensor, or the sums of those by an end of the range."""
        return np.asarray(np.sum(x, axis=self._axes(x)) if i else x)

    def _axes(self, x: np.ndarray) -> tuple[int, ...]:
        return others(x, -1 if self.channels else None)
