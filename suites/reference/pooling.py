"""Pooling: averages and largest elements of windows, as matrices that say which elements lie in which window.

A tensor of any rank and layout is a vector of n elements, and its windows are the rows of a matrix of shape (m, n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.accumulation import accumulator, gamma, sums_exactly
from tf_opdiff.suites.reference.convolution import extents
from tf_opdiff.suites.reference.promise import Promise
from tf_opdiff.suites.reference.reduction import long
from tf_opdiff.suites.reference.subnormal import flushed_in

Shape = tuple[int, ...]
#: The unit round-off of float16.
FLOAT16 = 2.0**-11


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


def _sum_error(u: float, terms: np.ndarray, members: np.ndarray, axis: int) -> np.ndarray:
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
      near: whether the gradient goes to every element near the largest one: see `_OfLargest.mistaken`.
    """

    windows: Windows
    shape: Shape = ()
    near: bool = field(default=False, kw_only=True)

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


@dataclass(frozen=True)
class Average(Pooling):
    """The average of the elements of each window; padding does not count."""

    def f(self, x: np.ndarray) -> np.ndarray:
        members = self.windows.members(x.shape)
        total = np.sum(np.where(members, long(x).reshape(1, -1), 0), axis=1)
        return np.asarray(total / _counts(members)).reshape(self.outputs(x))

    def vjp(self, g: np.ndarray, x: np.ndarray) -> tuple[np.ndarray]:
        return (shares(self.windows, g, x.shape),)

    def jvp(self, ts: Any, x: np.ndarray) -> np.ndarray:
        return self.f(ts[0])

    def error(self, u: float, x: np.ndarray) -> np.ndarray:
        members = self.windows.members(x.shape)
        counts = _counts(members)
        terms = np.where(members, x.reshape(1, -1), 0.0)
        total = np.sum(terms, axis=1)
        divided = np.where(_inexact(counts), 2 * u, 0.0) * np.abs(total)
        error = (_sum_error(u, terms, members, 1) + divided) / counts + _subnormal_step(u, total / counts)
        return np.asarray(error).reshape(self.outputs(x))

    def jvp_error(self, u: float, ts: Any, x: np.ndarray) -> np.ndarray:
        return self.error(u, ts[0])

    def grad_error(self, i: int, u: float, g: np.ndarray, x: np.ndarray) -> np.ndarray:
        return shares_error(self.windows, u, g, x.shape)

    def others(self, dtype: np.dtype, x: np.ndarray) -> list[np.ndarray]:
        small = self.f(flushed_in(dtype, x))
        return [flushed_in(dtype, self.f(x)), small, flushed_in(dtype, small)]

    def grad_others(self, i: int, dtype: np.dtype, g: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
        return shares_flushed(self.windows, dtype, g, x.shape)


def shares(windows: Windows, g: np.ndarray, shape: Shape, dtype: np.dtype | None = None) -> np.ndarray:
    """The sum of the equal shares of an upstream that each element gets from its windows.

    With a dtype, subnormal shares of this dtype are flushed.
    """
    members = windows.members(shape)
    share = long(g).ravel() / _counts(members)
    share = share if dtype is None else flushed_in(dtype, share.astype(np.float64))
    return np.asarray(np.sum(np.where(members, share[:, None], 0), axis=0)).reshape(shape)


def shares_error(windows: Windows, u: float, g: np.ndarray, shape: Shape) -> np.ndarray:
    """The error of `shares`: two roundings of each share that is not exact, and those of the sum."""
    members = windows.members(shape)
    counts = _counts(members)
    terms = np.where(members, (g.ravel() / counts)[:, None], 0.0)
    rounded = np.abs(terms) * np.where(_inexact(counts), 2 * u, 0.0)[:, None] + _subnormal_step(u, terms)
    divided = np.sum(rounded, axis=0)
    return np.asarray(_sum_error(u, terms, members, 0) + divided).reshape(shape)


def shares_flushed(windows: Windows, dtype: np.dtype, g: np.ndarray, shape: Shape) -> list[np.ndarray]:
    """The shares where the subnormals of a dtype are flushed: upstreams, shares, sums."""
    parts = [shares(windows, flushed_in(dtype, g), shape), shares(windows, flushed_in(dtype, g), shape, dtype)]
    return [*parts, *(flushed_in(dtype, part) for part in (shares(windows, g, shape), *parts))]


@dataclass(frozen=True)
class AverageGradient(Pooling):
    """The gradient of `Average` as an op of the upstream; `shape` is that of the pooled tensor, or of g."""

    def f(self, g: np.ndarray) -> np.ndarray:
        return shares(self.windows, g, self.shape or g.shape)

    def vjp(self, h: np.ndarray, g: np.ndarray) -> tuple[np.ndarray]:
        return (Average(self.windows).f(h),)

    def jvp(self, ts: Any, g: np.ndarray) -> np.ndarray:
        return self.f(ts[0])

    def error(self, u: float, g: np.ndarray) -> np.ndarray:
        return shares_error(self.windows, u, g, self.shape or g.shape)

    def jvp_error(self, u: float, ts: Any, g: np.ndarray) -> np.ndarray:
        return self.error(u, ts[0])

    def grad_error(self, i: int, u: float, h: np.ndarray, g: np.ndarray) -> np.ndarray:
        return Average(self.windows).error(u, h)

    def others(self, dtype: np.dtype, g: np.ndarray) -> list[np.ndarray]:
        return shares_flushed(self.windows, dtype, g, self.shape or g.shape)

    def grad_others(self, i: int, dtype: np.dtype, h: np.ndarray, g: np.ndarray) -> list[np.ndarray]:
        return Average(self.windows).others(dtype, h)


def chosen(windows: Windows, x: np.ndarray) -> np.ndarray:
    """Whether window i chooses element j: the first of its largest ones. Bool of shape (m, n)."""
    return _chosen(windows, x.shape, x.dtype, x.tobytes())


@lru_cache(maxsize=256)
def _chosen(windows: Windows, shape: Shape, dtype: np.dtype, values: bytes) -> np.ndarray:
    members, row = windows.members(shape), np.frombuffer(values, dtype).reshape(1, -1)
    largest = np.max(np.where(members, row, _lowest(dtype)), axis=1, initial=_lowest(dtype), keepdims=True)
    candidates = members & ((row == largest) | np.isnan(row))
    return candidates & (np.cumsum(candidates, axis=1) == 1)


def _near(windows: Windows, x: np.ndarray) -> np.ndarray:
    """Whether element j of window i is less than 1e-5 from its largest one. Bool of shape (m, n)."""
    members, row = windows.members(x.shape), x.reshape(1, -1)
    largest = np.max(np.where(members, row, -np.inf), axis=1, initial=-np.inf, keepdims=True)
    return np.asarray(members & (np.abs(row - largest) < 1e-5))


def _past_nan(windows: Windows, x: np.ndarray) -> np.ndarray:
    """What each window chooses by comparisons with NaN, which are false. Bool of shape (m, n).

    A window begins with its first element, and chooses another one if this is larger.
    """
    members, row = windows.members(x.shape), x.reshape(1, -1)
    first = members & (np.cumsum(members, axis=1) == 1)
    numbers = np.where(np.isnan(row), np.where(first, np.inf, -np.inf), row)
    largest = np.max(np.where(members, numbers, -np.inf), axis=1, initial=-np.inf, keepdims=True)
    candidates = members & (numbers == largest)
    return np.asarray(candidates & (np.cumsum(candidates, axis=1) == 1))


def _lowest(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


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
    return _sum_error(u, terms, choice, 0).reshape(shape)


@dataclass(frozen=True)
class _OfLargest(Pooling):
    """What the largest elements of windows and their gradients have in common."""

    @property
    def mistaken(self) -> Pooling | None:
        """Windows of five dimensions give the upstream to every element near the largest one, on a CPU."""
        return replace(self, near=True) if len(self.windows.sizes) == 5 else None

    def takers(self, x: np.ndarray) -> np.ndarray:
        """Whether element j of x gets the upstream of window i. Bool of shape (m, n)."""
        return _near(self.windows, x) if self.near else chosen(self.windows, x)


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

    def others(self, dtype: np.dtype, x: np.ndarray) -> list[np.ndarray]:
        equal = [gathered(choice, x, self.outputs(x)) for choice in _equal_if_flushed(self.windows, dtype, x)]
        return [*equal, *(flushed_in(dtype, y) for y in (self.f(x), *equal))]

    def grad_others(self, i: int, dtype: np.dtype, g: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
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


def _flushed_sums(dtype: np.dtype, choices: Sequence[np.ndarray], g: np.ndarray, shape: Shape) -> list[np.ndarray]:
    """The sums where subnormal inputs, upstreams and sums may be flushed."""
    small = flushed_in(dtype, g)
    sums = [scattered(choice, h, shape) for choice in choices for h in (g, small)]
    return [*sums, *(flushed_in(dtype, s) for s in sums)]


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

    def others(self, dtype: np.dtype, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        return _flushed_sums(dtype, [chosen(self.windows, x)], g, x.shape)

    def grad_others(self, i: int, dtype: np.dtype, h: np.ndarray, x: np.ndarray, *rest: Any) -> list[np.ndarray]:
        return [flushed_in(dtype, self.vjp(h, x, *rest)[i])]


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

    def others(self, dtype: np.dtype, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        return [flushed_in(dtype, self.f(x, g, y))]

    def grad_others(self, i: int, dtype: np.dtype, h: np.ndarray, x: np.ndarray, *rest: Any) -> list[np.ndarray]:
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
        choice = _past_nan(self.windows, x) if self.past_nan else chosen(self.windows, x)
        at = np.argmax(choice, axis=1) if x.size else np.zeros(0, np.int64)
        whole = x.size if self.include_batch_in_index else x.size // max(x.shape[0], 1)
        return np.asarray(at % max(whole, 1), np.int64).reshape(self.outputs(x))

    def vjp(self, g: np.ndarray, x: np.ndarray) -> tuple[None]:
        return (None,)

    def jvp(self, ts: Any, x: np.ndarray) -> None:
        """None: an index has no derivative."""

    def others(self, dtype: np.dtype, x: np.ndarray) -> list[np.ndarray]:
        return [self.f(flushed_in(dtype, x))]


@dataclass(frozen=True)
class LargestGradientAt(LargestGradient):
    """The same gradient as an op of the tensor x, the upstream g, and the index of each window's largest element.

    Indices are those of `LargestAt`.
    """

    include_batch_in_index: bool = False

    def f(self, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The sums of the upstreams of each index of the images."""
        return scattered(self._choice(x, y), g, x.shape)

    def error(self, u: float, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        return scattered_error(self._choice(x, y), u, g, x.shape)

    def others(self, dtype: np.dtype, x: np.ndarray, g: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        return _flushed_sums(dtype, [self._choice(x, y)], g, x.shape)

    def _choice(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The choice by index: the images lie one after the other."""
        if self.include_batch_in_index:
            return np.asarray(np.arange(x.size) == y.ravel()[:, None])
        image = np.arange(y.size) // max(y.size // max(x.shape[0], 1), 1)
        whole = x.size // max(x.shape[0], 1)
        return np.asarray(np.arange(x.size) == (y.ravel() + image * whole)[:, None])
