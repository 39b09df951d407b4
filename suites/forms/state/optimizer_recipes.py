"""Optimizer recipes: variables, slots and gradients, which are dense, or those of some rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.derived.sizes import EMPTY

#: The shapes of dense variables, and of variables whose gradients name rows.
SHAPE, TABLE = (13,), (7, 3)
ROWS = (3, 0, 6, 1)
#: The sizes of variables past the blocks of kernels.
_LONG, _MATRIX, _LARGE_TABLE = (1100,), (43, 101), (1100, 5)


#: The small recipes of known shapes in modes without XLA.
FEW = ("none", "one_by_one")


class Algorithm(Protocol):
    """The slots of an algorithm, and those that may be negative."""

    @property
    def slots(self) -> tuple[str, ...]: ...

    @property
    def signed(self) -> tuple[str, ...]: ...


def values(how: Algorithm, draw: Draw, dtype: np.dtype, shape: tuple[int, ...], gradient: tuple[int, ...]) -> list[Any]:
    """A variable, slots and a gradient, of moderate size: none is near zero, where a sign would be open."""

    def signed(*shape: int) -> np.ndarray:
        x = draw.uniform(*shape, low=0.25, high=2) * np.where(draw.booleans(*shape), 1, -1)
        return (x * (0.6 + 0.8j) if dtype.kind == "c" else x).astype(dtype)

    slots = [
        signed(*shape) if name in how.signed else draw.uniform(*shape, low=0.5, high=4).astype(dtype)
        for name in how.slots
    ]
    return [signed(*shape), *slots, signed(*gradient)]


def alike(how: Algorithm, shape: tuple[int, ...], gradient: tuple[int, ...] | None = None) -> Recipe:
    """A recipe of a variable and a gradient of these shapes."""
    return lambda draw, d: tuple(values(how, draw, d, shape, shape if gradient is None else gradient))


def special(how: Algorithm) -> Recipe:
    """A recipe of gradients that are infinite, NaN or zeros."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        own = values(how, draw, dtype, SHAPE, SHAPE)[:-1]
        return (*own, np.resize(np.array([0.0, 1.0, np.nan, -0.0, np.inf, -1.0, -np.inf]), SHAPE).astype(dtype))

    return recipe


def dense(how: Algorithm) -> dict[str, Recipe]:
    """Variables of 13 elements, of one, of none, and of rank 3."""
    shapes = {"plain": SHAPE, "empty": (0, 3), "one": (1,), "planes": (2, 1, 3), "scalar": ()}
    return {name: alike(how, shape) for name, shape in shapes.items()} | {"special": special(how)}


def rows(how: Algorithm, indices: Sequence[int], dtype: str, table: tuple[int, int] = TABLE) -> Recipe:
    """A recipe of a table, and of a gradient of these rows."""

    def recipe(draw: Draw, d: np.dtype) -> tuple[np.ndarray, ...]:
        own = values(how, draw, d, table, (len(indices), *table[1:]))
        return (*own, np.array(indices, dtype))

    return recipe


def sparse(how: Algorithm) -> dict[str, Recipe]:
    """Rows that are named once; int32 and int64; no row; and the one element of a table of one."""
    some = {"int32": rows(how, ROWS, "int32"), "int64": rows(how, ROWS, "int64"), "none": rows(how, (), "int32")}
    return {**some, "one": rows(how, (0,), "int64", (1, 1))}


def small_dense(how: Algorithm) -> dict[str, Recipe]:
    """Variables without elements, and of one, of rank 1 to 3."""
    return {label: alike(how, shape) for label, shape in EMPTY.items()}


def small_sparse(how: Algorithm) -> dict[str, Recipe]:
    """Tables without columns, rows or numbers of rows, and tables of one element."""
    tables = {"none": ((), TABLE), "no_rows": ((), (0, 3)), "no_columns": (ROWS, (7, 0)), "one_by_one": ((0,), (1, 1))}
    return {label: rows(how, indices, "int32", table) for label, (indices, table) in tables.items()}


def large_dense(how: Algorithm) -> dict[str, Recipe]:
    """Variables with more elements than blocks of kernels: beyond 1,024 and beyond 4,096."""
    return {"long": alike(how, _LONG), "blocks": alike(how, _MATRIX)}


def large_sparse(how: Algorithm) -> dict[str, Recipe]:
    """Rows beyond the blocks of kernels, rows that are named several times, and rows of one element."""
    order = np.random.Generator(np.random.PCG64(1)).permutation(_LARGE_TABLE[0])
    return {
        "blocks": rows(how, order.tolist(), "int32", _LARGE_TABLE),
        "repeated": rows(how, (3, 0, 3, 6, 3, 0), "int32"),
        "repeated_elements": rows(how, (2, 1, 2), "int64", (7, 1)),
    }


#: Whether gradients are those of rows → the recipes of values, of small variables, and of large ones.
OF_ROWS = {True: (sparse, small_sparse, large_sparse), False: (dense, small_dense, large_dense)}
