"""Operands: a recipe whose operands are changed after they are drawn, and before inputs are computed from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.attrs import accepted
from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Case, Recipe, Spec
from tf_opdiff.suites.forms.calls import Drawn
from tf_opdiff.suites.forms.recipes.elements import Elements, part

#: The recipes with ordinary numbers, in the order in which they are preferred.
_ORDINARY = ("plain", "domain", "range", "positive")
#: change(operand, x, draw) → the operand as the op gets it.
Change = Callable[[int, np.ndarray, Draw], np.ndarray]


@dataclass(frozen=True)
class Operands:
    """The operands of the calls of a spec by its recipe of ordinary numbers.

    label       the label of the recipe.
    floating    the numbers of the operands that are floats and have elements; a program of several calls has each of
                these operands in each call.
    inputs      the number of all inputs.
    """

    label: str
    floating: tuple[int, ...]
    inputs: int

    @classmethod
    def of(cls, spec: Spec) -> Operands:
        """Those of a spec, by its first dtype of floats; no operand is floating if it has no such dtype."""
        label = next((name for name in _ORDINARY if name in spec.recipes), next(iter(spec.recipes)))
        dtype = next((dtype for dtype in spec.dtypes if _is_floating(np.dtype(dtype))), spec.dtypes[0])
        xs, recipe = Case(spec, dtype, label, spec.labels[0]).inputs(), spec.recipes[label]
        firsts = _first_inputs(recipe) if isinstance(recipe, Drawn) else {i: i for i in range(len(xs))}
        chosen = (operand for operand, i in firsts.items() if xs[i].size and _is_floating(xs[i].dtype))
        return cls(label, tuple(chosen), len(xs))


def _is_floating(dtype: np.dtype) -> bool:
    return is_float(part(dtype))


def changed(recipe: Recipe, change: Change) -> Recipe:
    """The recipe, with a change of each operand; of a program of several calls, of the operands of each call."""
    if not isinstance(recipe, Drawn):
        return partial(_of_inputs, recipe, change)
    count = max(len(call.shapes or ()) for call in recipe.calls.values())
    last = len(recipe.elements) - 1
    return replace(recipe, elements=tuple(_of_elements(recipe.elements[min(i, last)], change, i) for i in range(count)))


def _first_inputs(recipe: Drawn) -> dict[int, int]:
    """Operand of a call that is drawn → the number of the first input that is this operand."""
    firsts: dict[int, int] = {}
    start = 0
    for call in recipe.calls.values():
        for operand in range(len(call.shapes or ())):
            firsts.setdefault(operand, start + operand)
        start += call.count
    return firsts


def _of_inputs(recipe: Recipe, change: Change, draw: Draw, dtype: np.dtype, **keywords: Any) -> tuple[np.ndarray, ...]:
    xs = recipe(draw, dtype, **accepted(recipe, keywords))
    return tuple(change(i, x, draw) for i, x in enumerate(xs))


def _of_elements(elements: Elements, change: Change, operand: int) -> Elements:
    return lambda draw, dtype, *shape: change(operand, elements(draw, dtype, *shape), draw)
