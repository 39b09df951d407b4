"""Shapes: NumPy's versions of ops that join, split, pad, repeat and cut arrays of any dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.moves import Arrays, blanks

Pairs = Sequence[Sequence[int]]


def joined(*xs: np.ndarray, axis: int) -> np.ndarray:
    """The arrays one after the other along an axis."""
    return np.concatenate(xs, axis=axis)


def stacked(*xs: np.ndarray, axis: int) -> np.ndarray:
    """The arrays along a new axis."""
    return np.stack(xs, axis=axis)


def split(x: np.ndarray, axis: int, num_split: int) -> Arrays:
    """Parts of equal size along an axis."""
    return tuple(np.split(x, num_split, axis=axis))


def split_by(x: np.ndarray, size_splits: Sequence[int], axis: int, num_split: int) -> Arrays:
    """Parts of these sizes along an axis; a size of -1 is the rest."""
    rest = x.shape[axis] - sum(size for size in size_splits if size >= 0)
    ends = np.cumsum([rest if size < 0 else size for size in size_splits])
    return tuple(np.split(x, ends[:-1], axis=axis))


def unstacked(x: np.ndarray, num: int, axis: int) -> Arrays:
    """The slices along an axis, without it."""
    return tuple(np.moveaxis(x, axis, 0))


def _inner(shape: Sequence[int], pairs: Pairs) -> tuple[slice, ...]:
    """The index of an array of this shape within its padding."""
    return tuple(slice(before, before + n) for n, (before, _) in zip(shape, pairs, strict=True))


def padded(x: np.ndarray, paddings: Pairs) -> np.ndarray:
    """The array between places without elements."""
    out = blanks(x, [n + sum(pair) for n, pair in zip(x.shape, paddings, strict=True)])
    if x.ndim:
        out[_inner(x.shape, paddings)] = x
    return out if x.ndim else x


def padded_with(x: np.ndarray, constant: np.ndarray, paddings: Pairs) -> np.ndarray:
    """The array between copies of a constant."""
    out = np.full([n + sum(pair) for n, pair in zip(x.shape, paddings, strict=True)], constant[()], x.dtype)
    if x.ndim:
        out[_inner(x.shape, paddings)] = x
    return out if x.ndim else x


def mirrored(x: np.ndarray, paddings: Pairs, mode: str) -> np.ndarray:
    """The array between reflections of itself, with its edges (SYMMETRIC) or without them (REFLECT)."""
    for axis, pair in enumerate(paddings):
        x = np.take(x, np.pad(np.arange(x.shape[axis]), pair, mode=mode.lower()), axis=axis)
    return x


def within(x: np.ndarray, paddings: Pairs, mode: str = "") -> tuple[int, ...]:
    """The shape of an array whose padded version has the shape of `x`."""
    return tuple(n - sum(pair) for n, pair in zip(x.shape, paddings, strict=True))


def repeated(x: np.ndarray, multiples: Sequence[int]) -> np.ndarray:
    """Copies of the array side by side."""
    for axis, count in enumerate(multiples):
        x = np.concatenate([x] * count, axis=axis) if count else np.take(x, [], axis=axis)
    return x


def repeated_once(x: np.ndarray, multiples: Sequence[int]) -> tuple[int, ...]:
    """The shape of an array whose copies have the shape of `x`."""
    return tuple(n // count for n, count in zip(x.shape, multiples, strict=True))


def cut(x: np.ndarray, begin: Sequence[int], size: Sequence[int]) -> np.ndarray:
    """The block of this size from an index on; a size of -1 is the rest."""
    return x[tuple(slice(b, None if n < 0 else b + n) for b, n in zip(begin, size, strict=True))]


def index(begin: Sequence[int], end: Sequence[int], strides: Sequence[int], **masks: int) -> tuple[Any, ...]:
    """Python's index of a strided slice.

    Bit i of a mask is about entry i: `ellipsis_mask` and `new_axis_mask` make it an ellipsis and a new axis,
    `shrink_axis_mask` an index, `begin_mask` and `end_mask` leave out the begin and the end.
    """

    def entry(i: int) -> Any:
        bits = {name: masks.get(name, 0) >> i & 1 for name in MASKS}
        if bits["ellipsis_mask"]:
            return Ellipsis
        if bits["new_axis_mask"]:
            return None
        if bits["shrink_axis_mask"]:
            return begin[i]
        return slice(None if bits["begin_mask"] else begin[i], None if bits["end_mask"] else end[i], strides[i])

    return tuple(map(entry, range(len(begin))))


MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def sliced(x: np.ndarray, **at: Any) -> np.ndarray:
    """The elements at an index: see `index`."""
    return x[index(**at)]


def placed(x: np.ndarray, shape: Sequence[int], **at: Any) -> np.ndarray:
    """An array of places without elements, but for the elements of `x` at an index."""
    return replaced(blanks(x, shape), x, **at)


def replaced(x: np.ndarray, value: np.ndarray, **at: Any) -> np.ndarray:
    """The array, with other elements at an index."""
    out = x.copy()
    out[index(**at)] = value if value.ndim else value[()]
    return out


def broadcast(x: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Copies of the array along new axes, and along those of size 1."""
    return np.broadcast_to(x, shape)


def reversed_along(x: np.ndarray, dims: Sequence[bool]) -> np.ndarray:
    """The array, backwards along some axes."""
    return np.flip(x, [axis for axis, turn in enumerate(dims) if turn])
