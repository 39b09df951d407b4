"""Quantisation: tensors whose elements are rounded to whole numbers of steps, in long double.

A step that is rounded to a dtype moves the middle between two steps. Near the middle, either neighbour is right, unless
the step is a power of two: then nothing is rounded before the number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.suites.reference.promises.promise import GradientOf, Promise
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes
from tf_opdiff.suites.reference.reductions.reduction import long

#: The roundings of a number of steps: the step, its inverse, a product, and the first step.
_ROUNDINGS = 8


@dataclass(frozen=True)
class Grid:
    """The numbers first + n step with 0 <= n <= levels: arrays that are broadcast to the tensor."""

    step: np.ndarray
    first: np.ndarray
    levels: Any

    @property
    def last(self) -> np.ndarray:
        return np.asarray(self.first + self.levels * self.step)

    def places(self, x: np.ndarray) -> np.ndarray:
        """Each element as a number of steps from the first one; not a whole number."""
        near = np.clip(long(x), self.first, self.last)
        return np.asarray((near - self.first) / np.where(self.step == 0, 1, self.step))

    def at(self, n: np.ndarray) -> np.ndarray:
        """The numbers after n steps."""
        return np.asarray(self.first + n * self.step)

    def error(self, u: float, x: np.ndarray) -> np.ndarray:
        """The error of the result: the roundings of the step, of its multiple, and of a sum with the first one."""
        n = np.rint(self.places(x))
        return np.asarray(3 * u * (np.abs(self.first) + n * self.step) * (self.rough | (self.first != 0)), np.float64)

    @property
    def rough(self) -> np.ndarray:
        """Whether the step is not a power of two."""
        return np.asarray(np.frexp(self.step)[0] != 0.5)

    def neighbours(self, dtype: np.dtype, x: np.ndarray, results: np.ndarray) -> list[np.ndarray]:
        """The results with each element near the middle of two steps at the lower one, and at the upper one."""
        u, places = float(ml_dtypes.finfo(dtype).eps) / 2, self.places(x)
        middle = np.abs(places - np.floor(places) - 0.5) <= _ROUNDINGS * u * (self.levels + 1)
        ends = (self.at(np.floor(places)), self.at(np.ceil(places)))
        return [np.where(middle & self.rough, end, results) for end in ends]


def others(x: np.ndarray, axis: int | None) -> tuple[int, ...]:
    """All axes of x but this one; all, for None."""
    return tuple(i for i in range(x.ndim) if axis is None or i != axis % x.ndim)


def spread(values: np.ndarray, x: np.ndarray, axis: int | None) -> np.ndarray:
    """Numbers of the elements along an axis of x, in a shape that is broadcast to x."""
    return (
        long(values) if axis is None else long(values).reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])
    )


@dataclass(frozen=True, kw_only=True)
class Quantized(Promise):
    """A tensor, clipped to a range and rounded to whole numbers of a step, from the smallest to the largest number.

    Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops/QuantizeAndDequantizeV2

    given       whether the range is that of the inputs; otherwise, it is that of the tensor's elements.
    limits      the range, if it is no input.
    half_up     whether halves are rounded up; otherwise, they go to the even number.
    narrow      whether the smallest number is minus the largest one.
    axis        the axis with a range for each place; None for one range.
    inside      whether the gradient is 0 outside of the range.
    """

    signed: bool = True
    bits: int = 8
    given: bool = True
    limits: tuple[float, ...] = ()
    half_up: bool = False
    narrow: bool = False
    axis: int | None = None
    inside: bool = False

    @property
    def mistaken(self) -> Quantized | None:
        """The gradient is 0 outside of ends that the op ignores, because its range is the tensor's own."""
        return replace(self, given=True) if self.inside and not self.given else None

    def grid(self, x: np.ndarray, *ends: np.ndarray) -> Grid:
        """The levels: the largest step that the range needs on either side."""
        largest = 2 ** (self.bits - 1) - 1 if self.signed else 2**self.bits - 1
        smallest = self.narrow - 2 ** (self.bits - 1) if self.signed else 0
        low, high = self._range(x, *ends)
        down = low / smallest if smallest else np.zeros_like(low)
        step = np.maximum(np.maximum(down, 0), np.maximum(high / largest, 0))
        return Grid(step, smallest * step, largest - smallest)

    def f(self, x: np.ndarray, *ends: np.ndarray) -> np.ndarray:
        grid = self.grid(x, *ends)
        near = np.clip(long(x), grid.first, grid.last) / np.where(grid.step == 0, 1, grid.step)
        return np.asarray((np.floor(near + 0.5) if self.half_up else np.rint(near)) * grid.step)

    def error(self, u: float, x: np.ndarray, *ends: np.ndarray) -> np.ndarray:
        return np.asarray(3 * u * np.abs(self.f(x, *ends)) * self.grid(x, *ends).rough, np.float64)

    def alternatives(self, dtype: np.dtype, x: np.ndarray, *ends: np.ndarray) -> Others:
        near = self.grid(x, *ends).neighbours(dtype, x, self.f(x, *ends))
        return [*near, *wholes(self.f(flushed_in(dtype, x), *ends), flushed_in(dtype, self.f(x, *ends)))]

    def vjp(self, g: np.ndarray, x: np.ndarray, *ends: np.ndarray) -> tuple[Any, ...]:
        """The upstream, as if nothing were rounded."""
        if not self.inside:
            return g, *(None for _ in ends)
        return g * self._within(x, *ends), *(np.zeros(end.shape) for end in ends)

    def grad_alternatives(self, i: int, dtype: np.dtype, g: np.ndarray, *xs: np.ndarray) -> Others:
        gradient = self.vjp(g, *xs)[i]
        return [] if gradient is None else wholes(flushed_in(dtype, gradient))

    def jvp(self, ts: Any, x: np.ndarray, *ends: np.ndarray) -> np.ndarray:
        return np.where(self._within(x, *ends), ts[0], 0) if self.inside else ts[0]

    def _range(self, x: np.ndarray, *ends: np.ndarray) -> list[np.ndarray]:
        """Both ends, in a shape that is broadcast to x; without elements, the tensor's own range is 0."""
        if self.given:
            return [spread(np.asarray(end, np.float64), x, self.axis) for end in ends or self.limits]
        own = (reduce(x, axis=others(x, self.axis), initial=0) for reduce in (np.min, np.max))
        return [spread(np.asarray(end), x, self.axis) for end in own]

    def _within(self, x: np.ndarray, *ends: np.ndarray) -> np.ndarray:
        """Whether each element is inside of the range: all are inside of their own."""
        low, high = self._range(x, *ends)
        return np.asarray((x >= low) & (x <= high))


class QuantizedGradient(GradientOf):
    """One of the gradients of `Quantized` as an op of the upstream, the tensor and the range."""

    def vjp(self, h: np.ndarray, g: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The gradient is linear in the upstream, and constant between the ends of the range."""
        by_upstream = self.of.vjp(h, *xs)[0] if self.number == 0 else np.zeros(g.shape)
        return by_upstream, *(np.zeros(x.shape) for x in xs)

    def jvp(self, ts: Any, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        return self.f(ts[0], *xs)

    def grad_alternatives(self, i: int, dtype: np.dtype, h: np.ndarray, *xs: np.ndarray) -> Others:
        return wholes(flushed_in(dtype, self.vjp(h, *xs)[i]))
