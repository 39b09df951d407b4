"""Recipes of moves: the inputs of all calls of a program, and upstreams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import Draw, edges, is_float, special_values
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.move_calls import MoveCall, Parameter
from tf_opdiff.suites.forms.special_upstreams import Upstream, in_turn


def values(calls: Sequence[MoveCall]) -> Recipe:
    """A recipe: plain values."""
    return lambda draw, dtype: tuple(draw.values(dtype, *shape) for one in calls for shape in one.shapes)


def special(calls: Sequence[MoveCall], *, adds: bool) -> Recipe:
    """A recipe: zeros of both signs, infinities, NaN, subnormals and limits; one input begins where another one ends.

    Args:
      calls: the calls.
      adds: whether elements are added; then there are no numbers beside which a subnormal one is lost, and none whose
        sums depend on their order.
    """

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        limits, arrays, start = _limits(np.dtype(dtype), adds=adds), [], 0
        for shape in (shape for one in calls for shape in one.shapes):
            count = int(np.prod(shape, dtype=int))
            arrays.append(np.resize(np.roll(limits, -start), shape))
            start += count
        return tuple(arrays)

    return recipe


def _limits(dtype: np.dtype, *, adds: bool) -> np.ndarray:
    if is_float(dtype):
        limits, info = special_values(dtype), ml_dtypes.finfo(dtype)
        unfit = (1.0, float(info.smallest_normal), float(info.max))
        return limits[~np.isin(np.abs(limits.astype(np.float64)), unfit)] if adds else limits
    if dtype.kind == "c":
        part = _limits(np.dtype(f"f{dtype.itemsize // 2}"), adds=adds)
        numbers = np.empty(part.size, dtype)
        numbers.real, numbers.imag = part, np.roll(part, 5)
        return numbers
    return np.unique(edges(Draw(0), dtype)[0])


def whole(calls: Sequence[MoveCall]) -> Recipe:
    """A recipe: small integers, whose sums are exact."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        return tuple(whole_upstream(draw, dtype, *shape) for one in calls for shape in one.shapes)

    return recipe


def whole_upstream(draw: Draw, dtype: Any, *shape: int) -> np.ndarray:
    """Integers from -4 to 4 but 0; a sum of them is exact, and no wide bound can hide a wrong one."""
    dtype = np.dtype(dtype)
    x = draw.integers(*shape, low=1, high=5) * np.where(draw.booleans(*shape) & (dtype.kind != "u"), -1, 1)
    return (x * (1 - 2j) if dtype.kind == "c" else x).astype(dtype)


def positive_upstream(draw: Draw, dtype: Any, *shape: int) -> np.ndarray:
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
    sums = {"plain": positive_upstream, "exact": whole_upstream} if adds else {}
    return {**sums, "upstreams": special_upstream}


def fed(calls: Sequence[MoveCall], tensors: Sequence[Parameter]) -> Recipe:
    """A recipe: small integers, and after those of a call its arguments that are tensors."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        arrays: list[np.ndarray] = []
        for i, one in enumerate(calls):
            arrays += [whole_upstream(draw, dtype, *shape) for shape in one.shapes]
            arrays += [p.array(i, one.parameters[p.name]) for p in tensors]
        return tuple(arrays)

    return recipe
