"""Segments in NumPy: rows that share an id are reduced to one row; and the VJPs of these reductions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import ml_dtypes
import numpy as np


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """A reduction of the rows of a segment.

    rows        rows(array of shape (n, …), n >= 1) → the reduced row.
    empty       empty(name of a dtype) → the number of a segment without rows.
    back        back(g, rows, reduced row) → the VJP by each row.
    power       the rows are divided by their number to this power: 1 of a mean, 1/2 of sqrt(n), else 0.
    product     whether a relative error counts from the result, and not from the sum of the sizes of the rows.
    chooses     whether one of the rows is the result.
    """

    rows: Callable[[np.ndarray], np.ndarray]
    back: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    empty: Callable[[str], float] = lambda dtype: 0
    power: float = 0
    product: bool = False
    chooses: bool = False


def _others(g: np.ndarray, rows: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The upstream times the product of the other rows."""
    return np.stack([g * np.prod(np.delete(rows, k, 0), 0) for k in range(len(rows))])


def product_curved(g: np.ndarray, ts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The derivative of the gradient of a product along the tangents of its rows."""
    out = np.zeros(rows.shape)
    for j, k in permutations(range(len(rows)), 2):
        out[j] += g * ts[k] * np.prod(np.delete(rows, (j, k), 0), 0)
    return out


def _shared(g: np.ndarray, rows: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The upstream, divided evenly among the rows that equal the result."""
    equal = rows == out
    return np.where(equal, g / equal.sum(0), 0)


def _sum(rows: np.ndarray) -> np.ndarray:
    return np.sum(rows, 0, dtype=rows.dtype)


def ends(dtype: str) -> tuple[float, float]:
    """The lowest and the highest finite number of a dtype."""
    one = np.dtype(dtype)
    info = np.iinfo(one) if one.kind in "iu" else ml_dtypes.finfo(one)
    kind = int if one.kind in "iu" else float
    return kind(info.min), kind(info.max)


def _mean(rows: np.ndarray) -> np.ndarray:
    """The sum, divided by the number of rows; a quotient of integers is cut to an integer."""
    total = _sum(rows)
    if rows.dtype.kind not in "iu":
        return total / len(rows)
    count = rows.dtype.type(len(rows))
    return total // count + ((total < 0) & (total % count != 0))


SUM = Reduction(rows=_sum, back=lambda g, rows, out: np.broadcast_to(g, rows.shape))
MEAN = Reduction(
    rows=_mean,
    back=lambda g, rows, out: np.broadcast_to(g / len(rows), rows.shape),
    power=1,
)
SQRT_N = Reduction(
    rows=lambda rows: _sum(rows) / np.sqrt(len(rows)),
    back=lambda g, rows, out: np.broadcast_to(g / np.sqrt(len(rows)), rows.shape),
    power=0.5,
)
PROD = Reduction(
    rows=lambda rows: np.prod(rows, 0, dtype=rows.dtype), back=_others, empty=lambda dtype: 1, product=True
)
MAX = Reduction(rows=lambda rows: np.max(rows, 0), back=_shared, chooses=True)
MIN = Reduction(rows=lambda rows: np.min(rows, 0), back=_shared, chooses=True)


def reduced(how: Reduction, rows: np.ndarray, ids: np.ndarray, count: int, empty: float = 0) -> np.ndarray:
    """One row for each id from 0 to count - 1; rows with other ids are left out.

    Args:
      how: the reduction.
      rows: of shape (n, …).
      ids: of shape (n,).
      count: the number of segments.
      empty: the number of a segment without rows.
    """
    out = np.full((count, *rows.shape[1:]), empty, rows.dtype)
    for k in np.unique(ids[(ids >= 0) & (ids < count)]):
        out[k] = how.rows(rows[ids == k])
    return out


def pulled(how: Reduction, g: np.ndarray, rows: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    """The VJP of `reduced` by its rows: zeros for rows that are left out."""
    out = np.zeros(rows.shape, g.dtype)
    values = reduced(how, rows, ids, count)
    for k in np.unique(ids[(ids >= 0) & (ids < count)]):
        out[ids == k] = how.back(g[k], rows[ids == k], values[k])
    return out


def members(ids: np.ndarray, count: int) -> np.ndarray:
    """The number of rows of each segment."""
    return np.bincount(ids[(ids >= 0) & (ids < count)], minlength=count)
