"""Diagonals in NumPy: bands of matrices, and matrices made of bands, as vectors in rows that are aligned left or right.

`k` is one diagonal, or the lowest and the highest one of a band; 0 is the main diagonal, and those above it are
positive. `align` says on which side the vectors above and below the main diagonal begin, as `RIGHT_LEFT`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Band = int | Sequence[int]
#: The alignment of the second versions of the ops.
LEFT = "LEFT_LEFT"


def length(rows: int, columns: int, diagonal: int) -> int:
    """The number of elements of a diagonal."""
    return min(rows + min(diagonal, 0), columns - max(diagonal, 0))


def ends(k: Band) -> tuple[int, int]:
    """The lowest and the highest diagonal of a band."""
    lower, *upper = np.ravel(k).tolist()
    return lower, upper[0] if upper else lower


def _places(rows: int, columns: int, k: Band, align: str) -> tuple[np.ndarray, ...]:
    """The row and the column of each element of a band, and its vector and its place there: four index vectors."""
    lower, upper = ends(k)
    longest = max(length(rows, columns, d) for d in range(lower, upper + 1))
    above, below = (side == "LEFT" for side in align.split("_"))
    parts = []
    for d in range(lower, upper + 1):
        n = np.arange(length(rows, columns, d))
        left = (above and d >= 0) or (below and d <= 0)
        parts.append((n - min(d, 0), n + max(d, 0), 0 * n + upper - d, n + (0 if left else longest - len(n))))
    row, column, vector, place = (np.concatenate(each) for each in zip(*parts, strict=True))
    return row, column, vector, place


def _single(k: Band) -> bool:
    lower, upper = ends(k)
    return lower == upper


def diagonals(x: np.ndarray, k: Band = 0, align: str = LEFT, padding: float = 0) -> np.ndarray:
    """The vectors of a band, filled up with `padding`: (..., vectors, length), without the vectors of one diagonal."""
    (lower, upper), (rows, columns) = ends(k), x.shape[-2:]
    longest = max(length(rows, columns, d) for d in range(lower, upper + 1))
    out = np.full((*x.shape[:-2], upper - lower + 1, longest), padding, x.dtype)
    row, column, vector, place = _places(rows, columns, k, align)
    out[..., vector, place] = x[..., row, column]
    return out[..., 0, :] if _single(k) else out


def with_diagonals(x: np.ndarray, vectors: np.ndarray, k: Band = 0, align: str = LEFT) -> np.ndarray:
    """The matrices with these vectors as a band."""
    out = x.copy()
    row, column, vector, place = _places(x.shape[-2], x.shape[-1], k, align)
    vectors = vectors[..., None, :] if _single(k) else vectors
    out[..., row, column] = vectors[..., vector, place]
    return out


def matrices(
    vectors: np.ndarray, k: Band = 0, shape: tuple[int, int] = (-1, -1), align: str = LEFT, padding: float = 0
) -> np.ndarray:
    """Matrices with these vectors as a band, and `padding` elsewhere; sizes of -1 are the smallest that fit."""
    lower, upper = ends(k)
    least = (vectors.shape[-1] - min(upper, 0), vectors.shape[-1] + max(lower, 0))
    rows, columns = (
        (max(least), max(least)) if shape == (-1, -1) else np.where(np.less(shape, 0), least, shape).tolist()
    )
    batch = vectors.shape[: -1 if _single(k) else -2]
    return with_diagonals(np.full((*batch, rows, columns), padding, vectors.dtype), vectors, k, align)


def band(x: np.ndarray, lower: int, upper: int) -> np.ndarray:
    """The matrices with zeros outside of `lower` diagonals below and `upper` above the main one; negative: all."""
    row, column = np.indices(x.shape[-2:])
    inside = ((lower < 0) | (row - column <= lower)) & ((upper < 0) | (column - row <= upper))
    return np.where(inside, x, np.zeros((), x.dtype))


def tensor_diagonal(x: np.ndarray) -> np.ndarray:
    """The diagonal of a tensor whose second half of dimensions is the first one again."""
    shape = x.shape[: x.ndim // 2]
    size = int(np.prod(shape, dtype=int))
    return np.diagonal(x.reshape(size, size)).reshape(shape)
