"""Pooling: windows as matrices that say which elements lie in which window, and their averages.

A tensor of any rank and layout is a vector of n elements, and its windows are the rows of a matrix of shape (m, n).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.neural_networks.geometry import extents
from tf_opdiff.suites.reference.promises.accumulation import FLOAT16, accumulator, gamma, sums_exactly
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes
from tf_opdiff.suites.reference.reductions.reduction import long

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Windows:
    """Windows over a tensor: a size and a stride for each dimension, and a padding.

    The padding is `VALID`, `SAME`, or numbers of elements before and after each dimension in turn. Padding belongs to
    no window.
    """

    sizes: Shape
    strides: Shape
    padding: str | Shape = "VALID"

    def outputs(self, shape: Shape) -> Shape:
        """The number of windows along each dimension."""
        return tuple(len(starts) for starts in self._starts(shape))

    def members(self, shape: Shape) -> np.ndarray:
        """Whether window i has element j of a tensor of this shape: bool of shape (m, n)."""
        return _members(self, shape)

    def late(self, shape: Shape) -> np.ndarray:
        """Whether element j is where window i may reach into padding that is only at the end of the last axis.

        The last axis is that of windows. Bool of shape (m, n).
        """
        axis = max((d for d, size in enumerate(self.sizes) if size > 1), default=0)
        starts, size, n = self._starts(shape), self.sizes[axis], shape[axis]
        padded = len(starts[axis]) > 0 and starts[axis][0] == 0
        end = max(starts[axis][-1] + size - n, 0) if padded else 0
        along = [np.ones((len(own), each), bool) for own, each in zip(starts, shape, strict=True)]
        along[axis] = np.arange(n) - starts[axis][:, None] >= size - end
        return reduce(np.kron, along, np.ones((1, 1), bool))

    def _starts(self, shape: Shape) -> list[np.ndarray]:
        """The place of the first element of each window, along each dimension."""
        padding = self.padding
        starts = []
        for d, (n, size, stride) in enumerate(zip(shape, self.sizes, self.strides, strict=True)):
            own = padding if isinstance(padding, str) else (padding[2 * d], padding[2 * d + 1])
            count, before = extents(n, size, stride, own)
            starts.append(np.arange(count) * stride - before)
        return starts


@lru_cache(maxsize=256)
def _members(windows: Windows, shape: Shape) -> np.ndarray:
    along = []
    for starts, n, size in zip(windows._starts(shape), shape, windows.sizes, strict=True):
        at = np.arange(n) - starts[:, None]
        along.append((at >= 0) & (at < size))
    return reduce(np.kron, along, np.ones((1, 1), bool))


def sum_error(u: float, terms: np.ndarray, members: np.ndarray, axis: int) -> np.ndarray:
    """γ Σ|terms| of the additions along an axis, 0 where every sum is exact; then one rounding of the sum.

    Args:
      u: the unit round-off of the result.
      terms: of the shape of `members`, 0 elsewhere.
      members: the terms that there are.
      axis: the axis of the sums.
    """
    additions = np.maximum(np.sum(members, axis=axis) - 1, 0)
    wide = accumulator(u, int(np.max(additions, initial=0)))
    exact = np.squeeze(sums_exactly(terms, (axis,), wide), axis) if terms.size else True
    total = np.sum(np.abs(terms), axis=axis)
    rounded = np.where(additions > 0, u * np.abs(np.sum(terms, axis=axis)), 0.0)
    return np.asarray(np.where(exact, 0.0, gamma(additions, wide) * total) + rounded, np.float64)


@dataclass(frozen=True)
class Pooling(Promise):
    """The windows of a pooling.

    Attributes:
      windows: the windows.
      shape: the shape of the tensor that is pooled, if the op does not get that tensor.
      of_kernels: whether the gradients are the wrong ones of kernels: see `_OfLargest.mistaken`.
    """

    windows: Windows
    shape: Shape = ()
    of_kernels: bool = field(default=False, kw_only=True)

    def outputs(self, x: np.ndarray) -> Shape:
        """The shape of the result of pooling x."""
        return self.windows.outputs(x.shape)


def _counts(members: np.ndarray) -> np.ndarray:
    return np.maximum(np.sum(members, axis=1), 1)


def _inexact(counts: np.ndarray) -> np.ndarray:
    """Whether a division by each count is rounded."""
    return (counts & (counts - 1)) != 0


def _subnormal_step(u: float, quotient: np.ndarray) -> np.ndarray:
    """The distance between subnormal numbers of float16, where a quotient is one; other dtypes flush them."""
    of_float16 = (u == FLOAT16) & (quotient != 0) & (np.abs(quotient) < 2.0**-14)
    return np.where(of_float16, 2.0**-24, 0.0)


class _Linear(Pooling):
    """A linear function of one tensor; its gradient is the transposed function of the upstream."""

    def transposed(self, shape: Shape) -> Pooling:
        """The transposed function, for a tensor of this shape."""
        raise NotImplementedError

    def vjp(self, g: np.ndarray, x: np.ndarray) -> tuple[np.ndarray]:
        return (self.transposed(x.shape).f(g),)

    def jvp(self, ts: Any, x: np.ndarray) -> Any:
        return self.f(ts[0])

    def jvp_error(self, u: float, ts: Any, x: np.ndarray) -> Any:
        return self.error(u, ts[0])

    def grad_error(self, i: int, u: float, g: np.ndarray, x: np.ndarray) -> Any:
        return self.transposed(x.shape).error(u, g)

    def grad_alternatives(self, i: int, dtype: np.dtype, g: np.ndarray, x: np.ndarray) -> Any:
        return self.transposed(x.shape).alternatives(dtype, g)


@dataclass(frozen=True)
class Average(_Linear):
    """The average of the elements of each window; padding does not count."""

    def f(self, x: np.ndarray) -> np.ndarray:
        members = self.windows.members(x.shape)
        total = np.sum(np.where(members, long(x).reshape(1, -1), 0), axis=1)
        return np.asarray(total / _counts(members)).reshape(self.outputs(x))

    def transposed(self, shape: Shape) -> Pooling:
        return AverageGradient(self.windows, shape)

    def error(self, u: float, x: np.ndarray) -> np.ndarray:
        members = self.windows.members(x.shape)
        counts = _counts(members)
        terms = np.where(members, x.reshape(1, -1), 0.0)
        total = np.sum(terms, axis=1)
        divided = np.where(_inexact(counts), 2 * u, 0.0) * np.abs(total)
        error = (sum_error(u, terms, members, 1) + divided) / counts + _subnormal_step(u, total / counts)
        return np.asarray(error).reshape(self.outputs(x))

    def alternatives(self, dtype: np.dtype, x: np.ndarray) -> Others:
        small = self.f(flushed_in(dtype, x))
        return wholes(flushed_in(dtype, self.f(x)), small, flushed_in(dtype, small))


@dataclass(frozen=True)
class AverageGradient(_Linear):
    """The gradient of `Average` as an op of the upstream; `shape` is that of the pooled tensor, or of g."""

    def f(self, g: np.ndarray) -> np.ndarray:
        return self._shares(g)

    def transposed(self, shape: Shape) -> Pooling:
        return Average(self.windows)

    def error(self, u: float, g: np.ndarray) -> np.ndarray:
        """Two roundings of each share that is not exact, and those of the sum."""
        shape = self.shape or g.shape
        members = self.windows.members(shape)
        counts = _counts(members)
        terms = np.where(members, (g.ravel() / counts)[:, None], 0.0)
        rounded = np.abs(terms) * np.where(_inexact(counts), 2 * u, 0.0)[:, None] + _subnormal_step(u, terms)
        divided = np.sum(rounded, axis=0)
        return np.asarray(sum_error(u, terms, members, 0) + divided).reshape(shape)

    def alternatives(self, dtype: np.dtype, g: np.ndarray) -> Others:
        """The sums where the subnormals of a dtype are flushed: upstreams, shares, sums."""
        small = flushed_in(dtype, g)
        parts = [self._shares(small), self._shares(small, dtype)]
        return wholes(*parts, *(flushed_in(dtype, part) for part in (self._shares(g), *parts)))

    def _shares(self, g: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
        """The sum of the equal shares of an upstream that each element gets from its windows.

        With a dtype, subnormal shares of this dtype are flushed.
        """
        shape = self.shape or g.shape
        members = self.windows.members(shape)
        share = long(g).ravel() / _counts(members)
        share = share if dtype is None else flushed_in(dtype, share.astype(np.float64))
        return np.asarray(np.sum(np.where(members, share[:, None], 0), axis=0)).reshape(shape)
