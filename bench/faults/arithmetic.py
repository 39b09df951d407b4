"""Arithmetic of faults: sums in short dtypes, and wide numbers."""

from __future__ import annotations

from typing import Any

import numpy as np


def wide(x: np.ndarray) -> np.ndarray:
    """Numbers in float64 or complex128; integers as they are."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) if x.dtype.kind not in "iub" else x


def product_in(x: np.ndarray, y: np.ndarray, dtype: Any) -> np.ndarray:
    """The matrix product (…, m, k) × (…, k, n) whose products and sums are rounded to a dtype, one after the other."""
    total = np.zeros(np.matmul(x[..., :1], y[..., :1, :]).shape, dtype)
    for k in range(x.shape[-1]):
        total = (total + (x[..., k, None] * y[..., k, None, :]).astype(dtype)).astype(dtype)
    return total


def short(x: np.ndarray) -> bool:
    """Whether numbers have 16 bits."""
    return x.dtype.name in ("float16", "bfloat16")
