"""Ranges: elements of tensors, and of the ends of their ranges, for ops that quantise."""

from __future__ import annotations

import numpy as np

from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.suites.forms.elements import Elements


def lows(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers below zero."""
    return draw.uniform(*shape, low=-3.0, high=-0.5).astype(dtype)


def highs(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers above zero."""
    return draw.uniform(*shape, low=0.5, high=3.0).astype(dtype)


def exactly(value: float) -> Elements:
    """Elements with one value."""
    return lambda draw, dtype, *shape: np.full(shape, value, dtype)


def halves(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Multiples of half a step of 1/8, to both ends of the range from -16 to 15.875 and beyond."""
    return (draw.integers(*shape, low=-260, high=260) / 16).astype(dtype)
