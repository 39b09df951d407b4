"""Choices: which elements of windows an op takes for the largest, by the documentation and by kernels."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.neural_networks.pooling import Shape, Windows


def chosen(windows: Windows, x: np.ndarray) -> np.ndarray:
    """Whether window i chooses element j: the first of its largest ones. Bool of shape (m, n)."""
    return _chosen(windows, x.shape, x.dtype, x.tobytes())


@lru_cache(maxsize=256)
def _chosen(windows: Windows, shape: Shape, dtype: np.dtype, values: bytes) -> np.ndarray:
    members, row = windows.members(shape), np.frombuffer(values, dtype).reshape(1, -1)
    largest = np.max(np.where(members, row, lowest(dtype)), axis=1, initial=lowest(dtype), keepdims=True)
    candidates = members & ((row == largest) | np.isnan(row))
    return candidates & (np.cumsum(candidates, axis=1) == 1)


def near(windows: Windows, x: np.ndarray) -> np.ndarray:
    """Whether element j of window i is less than 1e-5 from its largest one. Bool of shape (m, n)."""
    members, row = windows.members(x.shape), x.reshape(1, -1)
    largest = np.max(np.where(members, row, -np.inf), axis=1, initial=-np.inf, keepdims=True)
    return np.asarray(members & (np.abs(row - largest) < 1e-5))


def past_nan(windows: Windows, x: np.ndarray) -> np.ndarray:
    """What each window chooses by comparisons with NaN, which are false. Bool of shape (m, n).

    A window begins with its first element, and chooses another one if this is larger.
    """
    members, row = windows.members(x.shape), x.reshape(1, -1)
    first = members & (np.cumsum(members, axis=1) == 1)
    numbers = np.where(np.isnan(row), np.where(first, np.inf, -np.inf), row)
    largest = np.max(np.where(members, numbers, -np.inf), axis=1, initial=-np.inf, keepdims=True)
    candidates = members & (numbers == largest)
    return np.asarray(candidates & (np.cumsum(candidates, axis=1) == 1))


def chosen_by_xla(windows: Windows, x: np.ndarray) -> np.ndarray:
    """The choice of XLA on a CPU, which documents none. Bool of shape (m, n).

    Where the last axis of windows has padding only at its end, the last elements of each window along this axis, as
    many as there are places of padding, come after the other elements of the window.
    """
    row, first = x.reshape(1, -1), chosen(windows, x)
    largest = np.max(np.where(first, row, lowest(x.dtype)), axis=1, initial=lowest(x.dtype), keepdims=True)
    equal = windows.members(x.shape) & ~windows.late(x.shape) & (row == largest)
    return np.where(equal.any(axis=1, keepdims=True), equal & (np.cumsum(equal, axis=1) == 1), first)


def lowest(dtype: np.dtype) -> Any:
    """The smallest element of a dtype: of floats, minus infinity."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf
