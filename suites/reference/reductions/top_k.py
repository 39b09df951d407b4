"""Top k in NumPy: the largest numbers of each row, and the VJP."""

from __future__ import annotations

import numpy as np


def top(x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k largest numbers of each row, and their int32 indices; of equal numbers, the first one comes first."""
    order = np.argsort(_descending(x), -1, kind="stable")[..., :k].astype("int32")
    return np.take_along_axis(x, order.astype(int), -1), order


def _descending(x: np.ndarray) -> np.ndarray:
    """Keys that sort the numbers from the largest to the smallest one."""
    return ~x if x.dtype.kind in "iu" else -x


def put(g: np.ndarray, x: np.ndarray, k: int) -> np.ndarray:
    """The VJP of `top`: each upstream goes to the place that its number came from."""
    out = np.zeros(x.shape, g.dtype)
    np.put_along_axis(out, top(x, k)[1].astype(int), g, -1)
    return out


def in_top(rows: np.ndarray, targets: np.ndarray, k: int) -> np.ndarray:
    """Whether the number of each row's target is finite, and fewer than k numbers of the row are larger.

    Nothing is known of a row with NaN, nor of a target that is no class: False.
    """
    inside = (targets >= 0) & (targets < rows.shape[1])
    own = np.take_along_axis(rows, np.where(inside, targets, 0).astype(int)[:, None], 1) if rows.size else rows
    larger = np.sum(rows > own, axis=1)
    return inside & np.isfinite(own).all(axis=1) & ~np.isnan(rows).any(axis=1) & (larger < k)
