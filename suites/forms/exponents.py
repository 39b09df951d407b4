"""Exponents: recipes of integer bases and exponents."""

from __future__ import annotations

import numpy as np

from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.suites.forms.pairs import PAIRS, edge_values


def small_exponents(draw: Draw, dtype: np.dtype, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Small exponents, none of them negative."""
    return x, draw.integers(x.size, low=0, high=12).astype(dtype)


def huge_exponents(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The limits and numbers near zero to every exponent next to a power of two, up to the largest number."""
    powers = 2 ** np.arange(0, dtype.itemsize * 8 - 1, dtype=np.int64)
    exponents = np.unique([0, 1, 3, 5, *(powers - 1), *powers, np.iinfo(dtype).max, np.iinfo(dtype).max - 1])
    pairs = np.meshgrid(edge_values(draw, dtype), exponents.astype(dtype), indexing="ij")
    return tuple(np.resize(a, PAIRS) for a in pairs)


def extreme_negative_exponents(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The limits and numbers near zero to negative exponents, up to the smallest number."""
    info = np.iinfo(dtype)
    exponents = np.array([-1, -2, -3, -31, -32, info.min + 1, info.min], dtype)
    return tuple(np.resize(a, 67) for a in np.meshgrid(edge_values(draw, dtype), exponents, indexing="ij"))


def negative_exponents(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Bases 0, 1, -1 and others, to negative powers."""
    x = np.resize(np.array([0, 1, -1, 2, -3, 7], dtype), 67)
    return x, -draw.integers(67, low=1, high=6).astype(dtype)
