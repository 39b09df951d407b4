"""Sparse tensors: values, their indices of shape (count, rank), and a dense shape. NumPy's versions of ops on them.

For each op, one function gives the values, which move, and one gives the other results, which depend on indices and
shapes alone. Indices and shapes are literals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Sparse
from tf_opdiff.suites.reference.arrays.moves import Forward, MovedWith, blanks

#: A literal of indices, or of a shape.
Literal = Sequence[Any]


def indices_of(literal: Literal, rank: int) -> np.ndarray:
    """Indices as an array; a literal without indices does not say the rank."""
    return np.array(literal, np.int64).reshape(-1 if rank else len(literal), rank)


def in_order(indices: np.ndarray) -> np.ndarray:
    """The permutation that sorts indices, row by row."""
    keys = indices.T[::-1]
    return np.lexsort(keys) if len(keys) else np.arange(len(indices))


def reordered(x: np.ndarray, indices: Literal, shape: Literal) -> np.ndarray:
    """The values in the order of their indices."""
    return x[in_order(indices_of(indices, len(shape)))]


def reordered_indices(indices: Literal, shape: Literal) -> np.ndarray:
    """The indices in order."""
    array = indices_of(indices, len(shape))
    return array[in_order(array)]


def reordered_places(indices: Literal, shape: Literal) -> tuple[np.ndarray, np.ndarray]:
    """The indices in order, and the shape."""
    return reordered_indices(indices, shape), np.array(shape, np.int64)


@dataclass(frozen=True)
class Reordered(MovedWith):
    """The promise of values in the order of their indices; TensorFlow gathers gradients, so tangents are sparse."""

    def jvp(self, ts: Any, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        """The tangents, each with its new place."""
        new = np.argsort(in_order(indices_of(attrs["indices"], len(attrs["shape"]))))
        return Sparse(ts[0], new, ts[0].shape), None


@dataclass(frozen=True)
class ToDense(Forward):
    """The promise of a dense tensor; TensorFlow's gradients by indices and shapes are zeros, not None.

    TensorFlow's gradient by the default is the sum of all upstreams less those of values. So forward mode puts the
    tangent of the default everywhere, and adds its difference from those of values.
    """

    rounds_tangents = True

    def vjp(self, gs: Any, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        """The gradients of values and default, and zeros."""
        count = len(xs) - len(self.fed)
        return (*super().vjp(gs, *xs, **attrs)[:count], *(np.zeros_like(x) for x in xs[count:]))

    def jvp_error(self, u: float, ts: Any, *xs: np.ndarray, **attrs: Any) -> np.ndarray:
        """The roundings of a difference and of a sum, at the places of values."""
        values, default = np.abs(ts[0]), np.abs(ts[1])
        return 2 * u * self.f(values + default, np.zeros_like(default), **attrs)[0]


def _part(indices: Literal, start: Literal, size: Literal) -> np.ndarray:
    """Which indices are in a slice."""
    array, first = indices_of(indices, len(start)), np.array(start, np.int64)
    return np.all((array >= first) & (array < first + np.array(size, np.int64)), axis=1)


def sliced(x: np.ndarray, indices: Literal, shape: Literal, start: Literal, size: Literal) -> np.ndarray:
    """The values in a slice."""
    return x[_part(indices, start, size)]


def slice_indices(indices: Literal, shape: Literal, start: Literal, size: Literal) -> tuple[np.ndarray, ...]:
    """The indices in a slice, counted from its start, and the slice's shape: what the tensor has of it."""
    rest = np.maximum(np.array(shape, np.int64) - np.array(start, np.int64), 0)
    own = indices_of(indices, len(shape))[_part(indices, start, size)]
    return own - np.array(start, np.int64), np.minimum(np.array(size, np.int64), rest)


def spread(g: np.ndarray, indices: Literal, start: Literal, out: Literal) -> np.ndarray:
    """The gradient of a slice: its values where the slice has their indices, and none elsewhere.

    Args:
      g: the gradient by the values of the slice.
      indices: the indices of the tensor.
      start: the first index of the slice.
      out: the indices of the slice.
    """
    rank = len(start)
    places = {tuple(place): i for i, place in enumerate((indices_of(out, rank) + np.array(start, np.int64)).tolist())}
    result = blanks(g, (len(indices),))
    for i, index in enumerate(indices):
        if tuple(index) in places:
            result[i] = g[places[tuple(index)]]
    return result


def _bounds(shape: Literal, axis: int, count: int) -> list[tuple[int, int]]:
    """The start and the size of each part of an axis; the first parts are larger by one where they can't be equal."""
    size, more = divmod(shape[axis], count)
    sizes = [size + (i < more) for i in range(count)]
    return [(sum(sizes[:i]), n) for i, n in enumerate(sizes)]


def _parts(shape: Literal, axis: int, count: int) -> list[dict[str, list[int]]]:
    """The parts of a tensor along an axis, as arguments of slices."""
    arguments = []
    for first, n in _bounds(shape, axis, count):
        start, size = [0] * len(shape), list(shape)
        start[axis], size[axis] = first, n
        arguments.append({"start": start, "size": size})
    return arguments


def split(x: np.ndarray, indices: Literal, shape: Literal, axis: int, num_split: int) -> tuple[np.ndarray, ...]:
    """The values of each part along an axis."""
    return tuple(sliced(x, indices, shape, **part) for part in _parts(shape, axis, num_split))


def split_indices(indices: Literal, shape: Literal, axis: int, num_split: int) -> tuple[np.ndarray, ...]:
    """The indices of all parts, and then their shapes."""
    each = [slice_indices(indices, shape, **part) for part in _parts(shape, axis, num_split)]
    return (*(places for places, _ in each), *(size for _, size in each))


def _joined(indices: Literal, shapes: Literal, counts: Literal, axis: int) -> np.ndarray:
    """The indices of several tensors, one after the other along an axis."""
    array = indices_of(indices, len(shapes[0]))
    starts = np.cumsum([0, *(shape[axis] for shape in shapes)])[:-1]
    array[:, axis] += np.repeat(starts, counts)
    return array


def concatenated(*xs: np.ndarray, indices: Literal, shapes: Literal, counts: Literal, axis: int) -> np.ndarray:
    """The values of several tensors in the order of their new indices."""
    return np.concatenate(xs)[in_order(_joined(indices, shapes, counts, axis))]


def concatenated_indices(
    indices: Literal, shapes: Literal, counts: Literal, axis: int
) -> tuple[np.ndarray, np.ndarray]:
    """The new indices in order, and the new shape."""
    array, shape = _joined(indices, shapes, counts, axis), np.array(shapes[0], np.int64)
    shape[axis] = sum(one[axis] for one in shapes)
    return array[in_order(array)], shape


def _filled(indices: Literal, shape: Literal) -> tuple[np.ndarray, np.ndarray]:
    """The indices by row, each empty row with one at its begin, and the number of each index, or -1."""
    array, rows = indices_of(indices, len(shape)), np.arange(shape[0], dtype=np.int64)
    empty = rows[~np.isin(rows, array[:, 0])]
    new = np.zeros((len(empty), len(shape)), np.int64)
    new[:, 0] = empty
    both, numbers = np.concatenate([array, new]), np.concatenate([np.arange(len(array)), np.full(len(empty), -1)])
    order = np.argsort(both[:, 0], kind="stable")
    return both[order], numbers[order]


def filled(x: np.ndarray, default: np.ndarray, indices: Literal, shape: Literal) -> np.ndarray:
    """The values by row, with the default in empty rows."""
    return np.append(x, default)[_filled(indices, shape)[1]]


def filled_indices(indices: Literal, shape: Literal) -> tuple[np.ndarray, ...]:
    """The indices by row, whether each row was empty, and the new number of each index."""
    places, numbers = _filled(indices, shape)
    empty = np.isin(np.arange(shape[0]), places[numbers < 0, 0])
    return places, empty, np.argsort(numbers, kind="stable")[np.sum(numbers < 0) :]


def filled_rows(x: np.ndarray, default: np.ndarray, rows: Literal, count: Literal) -> np.ndarray:
    """The values of the rows of a ragged tensor, with the default in empty rows."""
    return filled(x, default, [[row] for row in rows], [count])


def filled_row_ids(rows: Literal, count: Literal) -> tuple[np.ndarray, ...]:
    """The row of each value, whether each row was empty, and the new number of each value."""
    places, empty, new = filled_indices([[row] for row in rows], [count])
    return places[:, 0], empty, new


def dense(x: np.ndarray, default: np.ndarray, indices: Any, shape: Literal) -> np.ndarray:
    """A dense tensor with the values, or one value, at indices; one number is an index of a vector."""
    array = np.array(indices, np.int64)
    places = array.reshape(-1 if shape else len(array), len(shape))
    out = np.full(tuple(shape), default, x.dtype)
    out[tuple(places.T)] = x
    return out


def from_filled(g: np.ndarray, mapped: Literal) -> np.ndarray:
    """The gradient of filled rows by the values: the upstreams of their new places."""
    return g[np.array(mapped, np.int64)]


def into_empty_rows(default: np.ndarray, mapped: Literal, count: int) -> np.ndarray:
    """A default wherever no value has its new place, of `count` places."""
    out = np.full(count, default)
    out[np.array(mapped, np.int64)] = blanks(out, ())
    return out


def reshaped(indices: Literal, shape: Literal, new: Literal) -> tuple[np.ndarray, np.ndarray]:
    """The indices in a tensor of a new shape, one size of which may be -1, and this shape."""
    known = math.prod(n for n in new if n >= 0)
    sizes = [n if n >= 0 else math.prod(shape) // known for n in new]
    places = np.zeros((len(indices), len(sizes)), np.int64)
    if places.size:
        flat = np.ravel_multi_index(indices_of(indices, len(shape)).T, shape)
        places[:] = np.transpose(np.unravel_index(flat, sizes))
    return places, np.array(sizes, np.int64)


def own_places(indices: Literal, shape: Literal) -> tuple[np.ndarray, np.ndarray]:
    """The indices and the shape as they are."""
    return indices_of(indices, len(shape)), np.array(shape, np.int64)


def batched_places(
    indices: Literal, shape: Literal, others: Literal, other_shape: Literal, kind: str
) -> tuple[np.ndarray, np.ndarray]:
    """The indices of two tensors, each with its number in front, and the smallest shape that holds both."""
    both = [np.insert(indices_of(one, len(shape)), 0, i, axis=1) for i, one in enumerate((indices, others))]
    return np.concatenate(both), np.array([2, *np.maximum(shape, other_shape)], np.int64)
