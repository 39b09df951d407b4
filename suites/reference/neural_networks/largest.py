"""Largest: the largest elements of windows, and their gradients: see `suites.reference.neural_networks.pooling`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.neural_networks.choices import chosen, chosen_by_xla, near, past_nan
from tf_opdiff.suites.reference.neural_networks.pooling import Pooling, Shape, Windows, sum_error
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes
from tf_opdiff.suites.reference.reductions.reduction import long


def gathered(choice: np.ndarray, x: np.ndarray, shape: Shape) -> np.ndarray:
    """The element of x that each window chooses, in the shape of the windows."""
    return np.asarray(x.ravel()[np.argmax(choice, axis=1)] if x.size else x[:0]).reshape(shape)


def scattered(choice: np.ndarray, g: np.ndarray, shape: Shape) -> np.ndarray:
    """The sum of the upstreams of the windows that choose each element."""
    return np.asarray(np.sum(np.where(choice, long(g).reshape(-1, 1), 0), axis=0, dtype=_sum(g))).reshape(shape)


def _sum(g: np.ndarray) -> Any:
    return g.dtype if g.dtype.kind in "iu" else None


def scattered_error(choice: np.ndarray, u: float, g: np.ndarray, shape: Shape) -> np.ndarray:
    """The error of `scattered`."""
    terms = np.where(choice, g.reshape(-1, 1), 0.0)
    return sum_error(u, terms, choice, 0).reshape(shape)


@dataclass(frozen=True)
class _OfLargest(Pooling):
    """What the largest elements of windows and their gradients have in common."""

    @property
    def mistaken(self) -> Pooling | None:
        """The gradients of kernels for a CPU.

        Windows of five dimensions give the upstream to every element near the largest one; under XLA, windows of four
        dimensions have an order of their own.
        """
        return replace(self, of_kernels=True)

    def takers(self, x: np.ndarray) -> np.ndarray:
        """Whether element j of x gets the upstream of window i. Bool of shape (m, n)."""
        if not self.of_kernels:
            return chosen(self.windows, x)
        return near(self.windows, x) if len(self.windows.sizes) == 5 else chosen_by_xla(self.windows, x)


@dataclass(frozen=True)
class Largest(_OfLargest):
    """The largest element of each window. The first of equal ones, in the order of memory, has the gradient."""

    def f(self, x: np.ndarray) -> np.ndarray:
        return gathered(chosen(self.windows, x), x, self.outputs(x))

    def vjp(self, g: np.ndarray, x: np.ndarray) -> tuple[np.ndarray]:
        return (scattered(self.takers(x), g, x.shape),)

    def jvp(self, ts: Any, x: np.ndarray) -> np.ndarray:
        return gathered(chosen(self.windows, x), ts[0], self.outputs(x))

    def hvp(self, g: np.ndarray, ts: Any, x: np.ndarray) -> tuple[np.ndarray]:
        return (np.zeros(x.shape),)

    def grad_error(self, i: int, u: float, g: np.ndarray, x: np.ndarray) -> np.ndarray:
        return scattered_error(chosen(self.windows, x), u, g, x.shape)

    def alternatives(self, dtype: np.dtype, x: np.ndarray) -> Others:
        equal = [gathered(choice, x, self.outputs(x)) for choice in _equal_if_flushed(self.windows, dtype, x)]
        return [*equal, *wholes(*(flushed_in(dtype, y) for y in (self.f(x), *equal)))]

    def grad_alternatives(self, i: int, dtype: np.dtype, g: np.ndarray, x: np.ndarray) -> Others:
        return _flushed_sums(dtype, [chosen(self.windows, x)], g, x.shape)


def _equal_if_flushed(windows: Windows, dtype: np.dtype, x: np.ndarray) -> list[np.ndarray]:
    """The choices of the second, third, … largest element of each window, where flushed subnormals are equal.

    A processor that compares subnormals as zeros may return any of them. No choice if x has no subnormals.
    """
    small = flushed_in(dtype, x)
    if not (small != x).any():
        return []
    members, row = windows.members(x.shape), small.reshape(1, -1)
    largest = np.max(np.where(members, row, -np.inf), axis=1, initial=-np.inf, keepdims=True)
    order = np.cumsum(members & (row == largest), axis=1) * (members & (row == largest))
    later = [order == n for n in range(1, int(order.max(initial=0)) + 1)]
    first = chosen(windows, small)
    return [np.where(choice.any(axis=1, keepdims=True), choice, first) for choice in later]


def _flushed_sums(dtype: np.dtype, choices: Sequence[np.ndarray], g: np.ndarray, shape: Shape) -> Others:
    """The sums where subnormal inputs, upstreams and sums may be flushed."""
    small = flushed_in(dtype, g)
    sums = [scattered(choice, h, shape) for choice in choices for h in (g, small)]
    return wholes(*sums, *(flushed_in(dtype, s) for s in sums))


@dataclass(frozen=True)
class LargestGradient(_OfLargest):
    """The gradient of `Largest` as an op of the tensor x, the upstream g, and the output y."""

    def f(self, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        return scattered(self.takers(x), g, x.shape)

    def vjp(self, h: np.ndarray, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        return np.zeros(x.shape), self.back(h, x, g), np.zeros(y.shape)

    def back(self, h: np.ndarray, x: np.ndarray, g: np.ndarray) -> np.ndarray:
        """The gradient by the upstream."""
        return gathered(chosen(self.windows, x), h, g.shape)

    def jvp(self, ts: Any, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.f(x, ts[1], y)

    def hvp(self, h: np.ndarray, ts: Any, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
        return np.zeros(x.shape), None, np.zeros(y.shape)

    def error(self, u: float, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> Any:
        return scattered_error(chosen(self.windows, x), u, g, x.shape)

    def jvp_error(self, u: float, ts: Any, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> Any:
        return self.error(u, x, ts[1], y)

    def alternatives(self, dtype: np.dtype, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> Others:
        return _flushed_sums(dtype, [chosen(self.windows, x)], g, x.shape)

    def grad_alternatives(self, i: int, dtype: np.dtype, h: np.ndarray, x: np.ndarray, *rest: Any) -> Others:
        return wholes(flushed_in(dtype, self.vjp(h, x, *rest)[i]))


@dataclass(frozen=True)
class LargestSecond(LargestGradient):
    """The gradient of `LargestGradient` by the upstream: the elements of g that the windows of x choose."""

    def f(self, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        return gathered(chosen(self.windows, x), g, y.shape)

    def back(self, h: np.ndarray, x: np.ndarray, g: np.ndarray) -> np.ndarray:
        return scattered(self.takers(x), h, x.shape)

    def error(self, u: float, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> Any:
        return 0.0

    def grad_error(self, i: int, u: float, h: np.ndarray, x: np.ndarray, *rest: Any) -> Any:
        return scattered_error(chosen(self.windows, x), u, h, x.shape) if i == 1 else 0.0

    def alternatives(self, dtype: np.dtype, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> Others:
        return wholes(flushed_in(dtype, self.f(x, g, y)))

    def grad_alternatives(self, i: int, dtype: np.dtype, h: np.ndarray, x: np.ndarray, *rest: Any) -> Others:
        return _flushed_sums(dtype, [chosen(self.windows, x)], h, x.shape) if i == 1 else []


@dataclass(frozen=True)
class LargestAt(Pooling):
    """The index of the largest element of each window, in the image, or in the whole tensor."""

    include_batch_in_index: bool = False
    past_nan: bool = field(default=False, kw_only=True)

    @property
    def mistaken(self) -> Pooling | None:
        """The index of the largest number, unless the first element of the window is NaN."""
        return replace(self, past_nan=True)

    def f(self, x: np.ndarray) -> np.ndarray:
        choice = past_nan(self.windows, x) if self.past_nan else chosen(self.windows, x)
        at = np.argmax(choice, axis=1) if x.size else np.zeros(0, np.int64)
        whole = x.size if self.include_batch_in_index else x.size // max(x.shape[0], 1)
        return np.asarray(at % max(whole, 1), np.int64).reshape(self.outputs(x))

    def vjp(self, g: np.ndarray, x: np.ndarray) -> tuple[None]:
        return (None,)

    def jvp(self, ts: Any, x: np.ndarray) -> None:
        """None: an index has no derivative."""

    def alternatives(self, dtype: np.dtype, x: np.ndarray) -> Others:
        return [self.f(flushed_in(dtype, x))]


@dataclass(frozen=True)
class LargestGradientAt(LargestGradient):
    """The gradient as an op of the tensor x, the upstream g, and the index of each window's largest element.

    Indices are those of `LargestAt`.
    """

    include_batch_in_index: bool = False

    def f(self, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The sums of the upstreams of each index of the images."""
        return scattered(self._choice(x, y), g, x.shape)

    def error(self, u: float, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        return scattered_error(self._choice(x, y), u, g, x.shape)

    def alternatives(self, dtype: np.dtype, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> Others:
        return _flushed_sums(dtype, [self._choice(x, y)], g, x.shape)

    def _choice(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The choice by index: the images lie one after the other."""
        if self.include_batch_in_index:
            return np.asarray(np.arange(x.size) == y.ravel()[:, None])
        image = np.arange(y.size) // max(y.size // max(x.shape[0], 1), 1)
        whole = x.size // max(x.shape[0], 1)
        return np.asarray(np.arange(x.size) == (y.ravel() + image * whole)[:, None])
