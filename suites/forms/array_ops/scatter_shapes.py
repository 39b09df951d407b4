"""Scatter shapes: recipes of deep indices with slices, of scalars, and of more elements than a block of a kernel."""

from __future__ import annotations

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.array_ops.scatter_recipes import SHAPE, around, exact
from tf_opdiff.suites.reference.arrays.scatter import Combination

Shape = tuple[int, ...]
#: A target, and the depth of indices that name its elements, or slices of it.
_DEEP: dict[str, tuple[Shape, int]] = {
    "pairs": ((4, 3, 5, 2), 2),
    "triples": ((3, 2, 4, 5), 3),
    "elements": ((3, 2, 4), 3),
}
#: Rows and columns of a target past the blocks of kernels, and the number of indices.
_ROWS, _COLUMNS, _COUNT = 1500, 5, 2100


def shapes(how: Combination, *, tuples: bool, variable: bool) -> dict[str, Recipe]:
    """Recipes with exact results; those of indices that are no tuples have scalars if the target is a variable."""
    if tuples:
        return {label: partial(_deep, how, *each) for label, each in _DEEP.items()} | {"blocks": partial(_blocks, how)}
    return {"blocks": partial(_rows, how), **(_scalars(how) if variable else {})}


def _deep(how: Combination, shape: Shape, depth: int, draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Indices of this depth in a matrix of indices; some of them are equal."""
    indices = np.stack([draw.integers(3, 4, low=0, high=n) for n in shape[:depth]], -1).astype("int32")
    return exact(how, draw, dtype, *shape), indices, exact(how, draw, dtype, 3, 4, *shape[depth:])


def _rows(how: Combination, draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    indices = draw.integers(_COUNT, low=0, high=_ROWS).astype("int32")
    return exact(how, draw, dtype, _ROWS, _COLUMNS), indices, exact(how, draw, dtype, _COUNT, _COLUMNS)


def _blocks(how: Combination, draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    x, indices, updates = _rows(how, draw, dtype)
    return x, indices[:, None], updates


def _scalars(how: Combination) -> dict[str, Recipe]:
    """One update of several rows, one row, and both."""
    rows, row = np.array([[3, 0, 6], [1, 4, 5]], "int32"), np.array(2, "int64")

    def recipe(indices: np.ndarray, *updates: int) -> Recipe:
        x, u = (lambda draw, dtype, shape=shape: exact(how, draw, dtype, *shape) for shape in (SHAPE, updates))
        return around(x, indices, u)

    return {"scalar_update": recipe(rows), "scalar_index": recipe(row, SHAPE[1]), "scalars": recipe(row)}
