"""Recipes of moves: special values, integers whose sums are exact, and upstreams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, special_values
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.array_ops.scatter_recipes import special_numbers
from tf_opdiff.suites.forms.calls import Shape
from tf_opdiff.suites.forms.elementwise.special_upstreams import Upstream, in_turn


def special(shapes: Sequence[Shape], *, adds: bool = False) -> Recipe:
    """A recipe: zeros of both signs, infinities, NaN, subnormals and limits; one input begins where another one ends.

    Args:
      shapes: the shapes of the inputs.
      adds: whether elements are added; then there are no numbers in whose sums a subnormal one is lost, and none whose
        sums depend on their order.
    """
    starts = np.cumsum([0, *(int(np.prod(shape, dtype=int)) for shape in shapes)]).tolist()

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        limits = _limits(np.dtype(dtype), adds=adds)
        return tuple(np.resize(np.roll(limits, -start), shape) for start, shape in zip(starts, shapes, strict=False))

    return recipe


def _limits(dtype: np.dtype, *, adds: bool) -> np.ndarray:
    return special_numbers(dtype, _of_sums if adds else special_values)


def _of_sums(dtype: np.dtype) -> np.ndarray:
    limits, info = special_values(dtype), ml_dtypes.finfo(dtype)
    unfit = (1.0, float(info.smallest_normal), float(info.max))
    return limits[~np.isin(np.abs(limits.astype(np.float64)), unfit)]


def whole(draw: Draw, dtype: Any, *shape: int) -> np.ndarray:
    """Integers from -4 to 4 but 0; a sum of them is exact, and no wide bound can hide a wrong one."""
    dtype = np.dtype(dtype)
    x = draw.integers(*shape, low=1, high=5) * np.where(draw.booleans(*shape) & (dtype.kind != "u"), -1, 1)
    return (x * (1 - 2j) if dtype.kind == "c" else x).astype(dtype)


def positive(draw: Draw, dtype: Any, *shape: int) -> np.ndarray:
    """Numbers from 1 to 2: their sums are rounded, and do not cancel."""
    dtype = np.dtype(dtype)
    x = draw.uniform(*shape, low=1, high=2)
    return (x * (1 + 1j) if dtype.kind == "c" else x).astype(dtype)


def upstreams(*, adds: bool) -> Mapping[str, Upstream]:
    """Upstreams by recipe.

    Args:
      adds: whether a gradient adds upstreams. If it does, `plain` has numbers that do not cancel.
    """
    special_upstream = in_turn(lambda dtype: _limits(np.dtype(dtype), adds=adds))
    return {**({"plain": positive, "exact": whole} if adds else {}), "upstreams": special_upstream}
