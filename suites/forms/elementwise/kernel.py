"""Kernel: how far the kernel of an elementwise op may be off at the ends of the range of a dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.suites.reference.promises.subnormal import flushed_in

#: A derivative below this times the smallest normal number may be flushed: 2 (x - y) is where x - y is subnormal.
_FACTOR = 4.0


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """How far a kernel may be off at the ends of the range of a dtype.

    steps   roundings of relative size eps, at most 1 % together: a number that is so near to the smallest normal number
            may be computed as a subnormal one, and one so near to the largest number as an infinity, or the other way
            round. A derivative below four times the smallest normal number may be off by one smallest number.
    factor  an upstream below this times the smallest normal number may be flushed, because a factor such as 1/2 may
            meet it first.
    """

    steps: float = 0.0
    factor: float = 1.0

    def flushed(self, y: Any, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        """The results of a kernel that flushes them: before they are rounded to the dtype, or after.

        Where the kernel may compute a normal number or a subnormal one, either is right.
        """
        y, off = np.asarray(y), min(self.steps * float(ml_dtypes.finfo(dtype).eps), 0.01)
        near = y.astype(dtype).astype(y.dtype)
        kept = (flushed_in(dtype, near, 1 - off) == near) | np.isnan(near)
        after = y if y.dtype.kind != "f" else np.where(kept, y, np.copysign(0, y))
        return after, flushed_in(dtype, y, 1 + off)

    def concerns(self, dtype: np.dtype, *arrays: Any) -> bool:
        """Whether a number in some arrays is so near to an end of the range that a kernel may be off there."""
        info = ml_dtypes.finfo(dtype)
        low = max(_FACTOR, self.factor) * float(info.smallest_normal)
        high = np.longdouble(info.max) * (1 - min(self.steps * float(info.eps), 0.01))
        parts = (part for x in map(np.asarray, arrays) for part in ((x.real, x.imag) if x.dtype.kind == "c" else (x,)))
        sizes = map(np.abs, parts)
        return any(bool(np.any(((size > 0) & (size < low)) | (size > high))) for size in sizes)

    def slopes(self, slope: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, Sequence[np.ndarray]]:
        """A derivative as a kernel may hold it in a dtype: rounded at the ends of the range; and flushed."""
        near = slope.astype(dtype).astype(slope.dtype)
        small = np.abs(near) < float(ml_dtypes.finfo(dtype).smallest_normal)
        rounded = np.where(~np.isfinite(near) | small, near, slope)
        flushed = (flushed_in(dtype, near, factor) for factor in (1, _FACTOR))
        return rounded, [np.where(other == near, rounded, other) for other in flushed]

    def roundings(self, slope: Any, dtype: np.dtype) -> Iterator[np.ndarray]:
        """A derivative at the ends of the range, as it may be at any element."""
        if not self.steps:
            return
        slope, info = np.asarray(slope), ml_dtypes.finfo(dtype)
        near = slope.astype(dtype).astype(slope.dtype)
        size, normal, least = np.abs(near), float(info.smallest_normal), float(info.smallest_subnormal)
        yield from (np.where(other == near, slope, other) for other in self.at_top(near, dtype))
        small = (size > 0) & (size < _FACTOR * normal)
        for steps in (-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1):
            yield np.where(small, np.copysign(np.maximum(size + steps * least, 0), near), slope)

    def at_top(self, y: np.ndarray, dtype: np.dtype) -> Sequence[np.ndarray]:
        """The values, with infinities for those next to the largest number, and the other way round."""
        if not self.steps:
            return ()
        info = ml_dtypes.finfo(dtype)
        top, off, size = np.longdouble(info.max), self.steps * float(info.eps), np.abs(y)
        beyond = (size > top) & (size < top * (1 + off))
        infinite = np.where(size > top * (1 - off), np.copysign(np.inf, y), y)
        return infinite, np.where(beyond, np.copysign(top, y), y)


#: A result that is rounded once.
EXACT = Kernel()
#: A result that is rounded several times.
ROUNDED = Kernel(steps=16, factor=4)
