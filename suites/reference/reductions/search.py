"""Search in NumPy: places in sorted rows, and numbers without repetitions."""

from __future__ import annotations

from typing import Literal

import numpy as np


def bounds(rows: np.ndarray, values: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
    """The first index (`left`), or the first index behind (`right`), at which each value fits into its sorted row."""
    places = [np.searchsorted(row, own, side) for row, own in zip(rows, values, strict=True)]
    return np.stack(places).astype("int32") if places else np.zeros(values.shape, "int32")


def unique(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different numbers in the order of their first places, the number of each element's, and their counts.

    Zeros of both signs are equal, and each NaN differs from all other numbers.
    """
    found = np.unique(x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    _, first, inverse, counts = found
    order = np.argsort(first)
    rank = np.empty(len(order), "int32")
    rank[order] = np.arange(len(order))
    return x[first[order]], rank[inverse.ravel()], counts[order].astype("int32")
