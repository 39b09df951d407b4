"""Reduction recipes: tensors of rank 3 whose elements are taken together, in the specs of reductions and scans."""

from __future__ import annotations

from collections.abc import Mapping

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.recipes import elements

#: The shape of the inputs: no size is a multiple of a vector's width.
SHAPE = (3, 5, 7)
#: The sizes of long sums, along rows and along columns.
LONG = (3, 4099)


def shaped(draw_elements: elements.Elements) -> Recipe:
    """The recipe of one tensor with these elements."""
    return lambda draw, dtype: (draw_elements(draw, np.dtype(dtype), *SHAPE),)


plain, small_integers, ties, tiny, limits = map(
    shaped, (elements.plain, elements.small_integers, elements.ties, elements.tiny, elements.limits)
)


def large(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Equal large numbers, whose sum is just in range, and their opposites in one of the planes."""
    x = np.full(SHAPE, float(ml_dtypes.finfo(elements.part(np.dtype(dtype))).max) / 128)
    x[1] *= -1
    return (x.astype(dtype),)


def special(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Rows with NaN, with infinities of one sign and of both, with zeros of both signs, and with plain numbers."""
    x = draw.values(np.dtype(np.float64), *SHAPE)
    x[0, :4, 2] = [np.nan, np.inf, -np.inf, 0.0]
    x[0, 2, 5] = np.inf
    x[1, :2, -1] = [-np.inf, np.inf]
    x[2, :2] = 0.0
    x[2, 1, ::2] = -0.0
    return (x.astype(dtype),)


def infinite(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Rows with infinities of one sign, of both, and with plain numbers; no NaN."""
    x = draw.values(np.dtype(np.float64), *SHAPE)
    x[0, :3, 2] = [np.inf, -np.inf, np.inf]
    x[0, 2, 5] = np.inf
    x[1, 0] = -np.inf
    x[1, 1, -1] = -np.inf
    return (x.astype(dtype),)


def few(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Rows of one truth value but for single elements: one row alone is mixed in each plane."""
    x = np.zeros(SHAPE, bool)
    x[1] = True
    x[0, 2, 6] = x[2, 4, 0] = True
    x[1, 3, 5] = False
    return (x,)


def filled(value: bool) -> Recipe:
    """The recipe of one truth value."""
    return lambda draw, dtype: (np.full(SHAPE, value),)


RECIPES: Mapping[str, Recipe] = {
    "plain": plain,
    "exact": small_integers,
    "ties": ties,
    "large": large,
    "special": special,
    "tiny": tiny,
    "upstreams": plain,
}
OF_INTEGERS: Mapping[str, Recipe] = {"plain": plain, "limits": limits}
