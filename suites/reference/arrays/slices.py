"""Slices: NumPy's versions of ops that read and write slices of arrays of any dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.arrays.moves import blanks


def _indices(
    begin: Sequence[int], end: Sequence[int], strides: Sequence[int], masks: dict[str, int]
) -> Iterator[slice | int | Any | None]:
    """The parts of NumPy's index; bit i of a mask is about part i, as documented at tf.strided_slice."""
    for i, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        bits = {name.removesuffix("_mask") for name, mask in masks.items() if mask >> i & 1}
        if "ellipsis" in bits:
            yield Ellipsis
        elif "new_axis" in bits:
            yield None
        elif "shrink_axis" in bits:
            yield first
        else:
            yield slice(None if "begin" in bits else first, None if "end" in bits else last, step)


def updated(
    x: np.ndarray, v: np.ndarray, begin: Sequence[int], end: Sequence[int], strides: Sequence[int], **masks: int
) -> np.ndarray:
    """A copy of the array with `v`, broadcast, in a slice."""
    out = np.array(x)
    out[tuple(_indices(begin, end, strides, masks))] = v[()]
    return out


def strided(
    x: np.ndarray, begin: Sequence[int], end: Sequence[int], strides: Sequence[int], **masks: int
) -> np.ndarray:
    """A slice."""
    return x[tuple(_indices(begin, end, strides, masks))]


def written(
    v: np.ndarray, shape: Sequence[int], begin: Sequence[int], end: Sequence[int], strides: Sequence[int], **masks: int
) -> np.ndarray:
    """An array of a shape with `v` in a slice, and places without elements around it."""
    return updated(blanks(v, shape), v, begin, end, strides, **masks)


def sliced(x: np.ndarray, begin: Sequence[int], size: Sequence[int]) -> np.ndarray:
    """The part of an array that begins at an index and has a size; a size of -1 is the rest."""
    ends = [None if n < 0 else first + n for first, n in zip(begin, size, strict=True)]
    return x[tuple(map(slice, begin, ends))]


def reversed_axes(x: np.ndarray, dims: Sequence[bool]) -> np.ndarray:
    """The array with some of its axes reversed."""
    return np.flip(x, tuple(axis for axis, turned in enumerate(dims) if turned))
