"""CSR matrices in NumPy: matrices and batches of them, with values at indices; see
`suites.reference.sparse_tensors.sparse`."""

from __future__ import annotations

import numpy as np

from tf_opdiff.suites.reference.arrays.moves import blanks
from tf_opdiff.suites.reference.sparse_tensors.sparse import Literal, in_order, indices_of


def components(x: np.ndarray, indices: Literal, shape: Literal, index: int) -> np.ndarray:
    """The values of one matrix of a batch."""
    return x[_of_matrix(indices, shape, index)]


def component_places(indices: Literal, shape: Literal, index: int) -> tuple[np.ndarray, np.ndarray]:
    """The number of values before each row of one matrix of a batch, and after the last, and the column of each."""
    own = indices_of(indices, len(shape))[_of_matrix(indices, shape, index)]
    counts = np.bincount(own[:, -2], minlength=shape[-2])
    return np.cumsum([0, *counts]).astype(np.int32), own[:, -1].astype(np.int32)


def _of_matrix(indices: Literal, shape: Literal, index: int) -> np.ndarray:
    """Which indices are those of one matrix of a batch, or of a matrix without a batch."""
    array = indices_of(indices, len(shape))
    return array[:, 0] == index if len(shape) == 3 else np.full(len(array), index == 0)


def counts(indices: Literal, shape: Literal) -> np.ndarray:
    """The number of values of a matrix, or of each of a batch."""
    if len(shape) == 2:
        return np.array(len(indices), np.int32)
    return np.bincount(indices_of(indices, 3)[:, 0], minlength=shape[0]).astype(np.int32)


def _turned(indices: Literal, shape: Literal) -> np.ndarray:
    """The indices with rows and columns exchanged."""
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    return indices_of(indices, len(shape))[:, order]


def transposed(x: np.ndarray, indices: Literal, shape: Literal) -> np.ndarray:
    """The values of the transpose of each matrix, in the order of their new indices."""
    return x[in_order(_turned(indices, shape))]


def transposed_indices(indices: Literal, shape: Literal) -> tuple[np.ndarray, np.ndarray]:
    """The new indices in order, and the new shape."""
    turned = _turned(indices, shape)
    return turned[in_order(turned)], np.array([*shape[:-2], shape[-1], shape[-2]], np.int64)


def back_from_transposed(g: np.ndarray, indices: Literal, shape: Literal) -> np.ndarray:
    """The values of a transpose at their old places."""
    return g[np.argsort(in_order(_turned(indices, shape)))]


def masked(x: np.ndarray, indices: Literal) -> np.ndarray:
    """A dense tensor with what `x` holds at indices."""
    places = tuple(indices_of(indices, x.ndim).T)
    out = blanks(x, x.shape)
    out[places] = x[places]
    return out
