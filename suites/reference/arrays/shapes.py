"""Shapes: NumPy's versions of ops that join, split, pad, repeat and reshape arrays of any dtype."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tf_opdiff.suites.reference.arrays.moves import Arrays, blanks

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
        x = np.take(
            x, np.pad(np.arange(x.shape[axis]), pair, "reflect" if mode == "REFLECT" else "symmetric"), axis=axis
        )
    return x


def within(x: np.ndarray, paddings: Pairs, mode: str = "") -> tuple[int, ...]:
    """The shape of an array whose padded version has the shape of `x`."""
    return tuple(n - sum(pair) for n, pair in zip(x.shape, paddings, strict=True))


def repeated(x: np.ndarray, multiples: Sequence[int]) -> np.ndarray:
    """Copies of the array side by side."""
    for axis, count in enumerate(multiples):
        x = np.concatenate([x] * count, axis=axis) if count else np.take(x, [], axis=axis)
    return x


def broadcast(x: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Copies of the array along new axes, and along those of size 1."""
    return np.broadcast_to(x, shape)


def expanded(x: np.ndarray, axis: int) -> np.ndarray:
    """The array with a new axis of size 1."""
    return np.expand_dims(x, axis)


def squeezed(x: np.ndarray, axis: Sequence[int]) -> np.ndarray:
    """The array without these axes of size 1; without all of them, if none is named."""
    return np.squeeze(x, tuple(axis) or None)
