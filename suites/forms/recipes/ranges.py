"""Ranges: elements of tensors, and of the ends of their ranges, for ops that quantise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.forms.recipes.elements import Elements, infinite, not_numbers, plain, tiny


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


RANGE = (lows, highs)
#: Label → the elements of a tensor, and of the lower and the upper end of its range.
RANGES: Mapping[str, tuple[Elements, ...]] = {
    "plain": (plain, *RANGE),
    "halves": (halves, exactly(-16), exactly(15.875)),
    "infinite": (infinite, *RANGE),
    "tiny": (tiny, *RANGE),
    "upstreams": (plain, *RANGE),
}
#: Label → the elements of a tensor, and of the ends of a range without 0.
WITHOUT_ZERO: Mapping[str, tuple[Elements, ...]] = {
    "positive": (plain, exactly(0.75), exactly(3.0)),
    "negative": (plain, exactly(-2.5), exactly(-0.25)),
}
#: Elements with a NaN: TensorFlow does not say whether a gradient passes there.
WITH_NAN = {"special": (not_numbers, *RANGE)}
#: Label → the shape of a tensor without elements, or with one.
SMALL = {"nothing": (0,), "no_rows": (0, 3), "no_inside": (2, 0, 1, 3), "one": (1,), "ones": (1, 1)}
