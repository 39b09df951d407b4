"""Scatter recipes: a target, indices and updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, edges, is_float, special_values
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.reference.arrays.scatter import Combination

#: Seven rows; a row of six that updates meet has place for each pair of special values.
SHAPE = (7, 29)
#: The indices that name no row twice, and those that name three rows twice.
ONCE, TWICE = ((3, 0, 6), (1, 4, 5)), ((0, 3, 5), (3, 6, 0))
#: The shape of the updates of those rows.
SLICES = (2, 3, *SHAPE[1:])
#: values(draw, dtype) → an array.
Values = Callable[[Draw, np.dtype], np.ndarray]
#: numbers(dtype) → a vector.
Numbers = Callable[[np.dtype], np.ndarray]


def _indices(rows: object, tuples: bool, dtype: str) -> np.ndarray:
    """Indices of rows, or tuples of one index."""
    array = np.array(rows, dtype)
    return array[..., None] if tuples else array


def exact(how: Combination, draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers whose combinations are exact in any order: small integers, or powers of two for products."""
    if dtype.kind == "b":
        return draw.booleans(*shape)
    if how.powers and dtype.kind not in "iu":
        sign = np.where(draw.booleans(*shape), 1, -1)
        return (sign * 2.0 ** draw.integers(*shape, low=-2, high=3)).astype(dtype)
    low = 1 if how.powers else 0 if dtype.kind == "u" else -3
    whole = draw.integers(*shape, low=low, high=4)
    return (whole * (1 + 2j) if dtype.kind == "c" else whole).astype(dtype)


def _moderate(how: Combination, draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers of moderate size; no zeros where integers are divided."""
    values = draw.values(dtype, *shape)
    return np.where(values == 0, np.ones_like(values), values) if how.divides else values


def special_numbers(dtype: np.dtype, of_floats: Numbers = special_values) -> np.ndarray:
    """Special values: of floats those of a function; of complex numbers, in both parts; of integers, the limits."""
    if dtype.kind == "c":
        part = of_floats(np.dtype(f"f{dtype.itemsize // 2}"))
        numbers = np.empty(part.size, dtype)
        numbers.real, numbers.imag = part, np.roll(part, 5)
        return numbers
    return of_floats(dtype) if is_float(dtype) else np.unique(edges(Draw(0), dtype)[0])


def around(x: Values, i: np.ndarray, u: Values) -> Recipe:
    """A recipe: a target, indices, and updates."""
    return lambda draw, dtype: (x(draw, dtype), i, u(draw, dtype))


def plain(*shape: int) -> Values:
    """Plain values of a shape."""
    return lambda draw, dtype: draw.values(dtype, *shape)


def _met(how: Combination, tuples: bool, own: Numbers, theirs: Numbers) -> Recipe:
    """A recipe in which each number of one list meets, as an update, each of another."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        x, u = (a.ravel() for a in np.meshgrid(own(dtype), theirs(dtype), indexing="ij"))
        if how.divides:
            u = np.where(_counts_as_zero(u) | (u == np.array(-1).astype(dtype)), np.array(2).astype(dtype), u)
        start = np.ones(SHAPE, dtype)
        start[np.ravel(ONCE)] = np.resize(x, (6, SHAPE[1]))
        return start, _indices(ONCE, tuples, "int32"), np.resize(u, SLICES)

    return recipe


def _counts_as_zero(x: np.ndarray) -> np.ndarray:
    """Where a number is zero, or subnormal."""
    return np.abs(x) < ml_dtypes.finfo(x.dtype).smallest_normal if is_float(x.dtype) else x == 0


def finite_or_infinite(dtype: np.dtype) -> np.ndarray:
    """The special numbers without NaN."""
    numbers = special_numbers(dtype)
    return numbers[~np.isnan(numbers)] if is_float(dtype) or dtype.kind == "c" else numbers


def normal(dtype: np.dtype) -> np.ndarray:
    """The special numbers without NaN and without subnormal ones."""
    numbers = finite_or_infinite(dtype)
    return numbers[(numbers == 0) | ~_counts_as_zero(numbers)]


def _normal_or_nan(dtype: np.dtype) -> np.ndarray:
    """The special numbers without subnormal ones, and as many NaNs as numbers."""
    numbers = normal(dtype)
    return np.concatenate([numbers, np.full_like(numbers, np.nan)]) if is_float(dtype) else numbers


def special(how: Combination, tuples: bool) -> dict[str, Recipe]:
    """The recipes in which special numbers meet. Where one operand is chosen, NaN meets no subnormal number."""
    if how.rounded or not how.computes:
        return {"special": _met(how, tuples, special_numbers, special_numbers)}
    return {
        "special": _met(how, tuples, finite_or_infinite, finite_or_infinite),
        "nan": _met(how, tuples, lambda d: _normal_or_nan(d)[-13:], _normal_or_nan),
    }


def ties(how: Combination, tuples: bool) -> dict[str, Recipe]:
    """The recipe in which the special numbers meet that have a gradient as operands of a maximum."""
    return {"ties": _met(how, tuples, normal, normal)}


def main(how: Combination, tuples: bool) -> dict[str, Recipe]:
    """The recipes of ordinary numbers.

    `int32` names each row once, so that each result has one rounding; `rounded` names rows twice. `int64` names
    elements, or rows, more than once, and its results are exact.
    """

    def of(numbers: Callable[..., np.ndarray], *shape: int) -> Values:
        return lambda draw, dtype: numbers(how, draw, dtype, *shape)

    updates: tuple[int, ...] = SLICES
    places = _indices(TWICE, False, "int64")
    if tuples:
        places, updates = np.array([[[0, 1], [6, 28], [3, 3]], [[3, 3], [2, 0], [6, 28]]], "int64"), SLICES[:2]
    return {
        "int32": around(of(_moderate, *SHAPE), _indices(ONCE, tuples, "int32"), of(_moderate, *SLICES)),
        "rounded": around(of(_moderate, *SHAPE), _indices(TWICE, tuples, "int32"), of(_moderate, *SLICES)),
        "int64": around(of(exact, *SHAPE), places, of(exact, *updates)),
    }


def zeros(how: Combination, tuples: bool) -> dict[str, Recipe]:
    """The recipe in which updates of zero, which divide, meet special numbers."""

    def divisors(dtype: np.dtype) -> np.ndarray:
        least = float(ml_dtypes.finfo(dtype).smallest_subnormal) if is_float(dtype) else 0
        return np.array([0.0, -0.0, 1.0, least, -least]).astype(dtype)

    return {"zeros": _met(replace(how, divides=False), tuples, _normal_or_nan, divisors)}


def sizes(tuples: bool) -> dict[str, Recipe]:
    """Targets without rows, columns or elements, no index, and one of each."""
    rows: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
        "no_index": ((7, 5), (0,)),
        "no_index_nor_row": ((0, 5), (0,)),
        "no_columns": ((7, 0), (4,)),
        "one": ((1,), (1,)),
        "one_of_one": ((1, 1), (1,)),
        "no_row_of_indices": ((3, 1, 2), (0, 3)),
        "no_column_of_indices": ((1, 1, 1), (1, 0)),
        "empty_inside": ((1, 0, 2), (1, 1)),
    }

    return {
        name: around(
            plain(*x), _indices(np.arange(prod(i)).reshape(i) % max(1, x[0]), tuples, "int32"), plain(*i, *x[1:])
        )
        for name, (x, i) in rows.items()
    }


def out_of_range(tuples: bool) -> dict[str, Recipe]:
    """A target of five rows, and an index that names none of them."""
    bad = {"at_end": (5, "int32"), "beyond_int32": (2**32 + 1, "int64"), "negative": (-1, "int32")}
    recipes = {
        name: around(plain(5, 3), _indices([2, index, 0], tuples, dtype), plain(3, 3))
        for name, (index, dtype) in bad.items()
    }
    no_rows = around(plain(0, 3), _indices([0, 0, 0], tuples, "int32"), plain(3, 3))
    return recipes if tuples else recipes | {"no_rows": no_rows}


def mismatched(tuples: bool) -> dict[str, Recipe]:
    """Updates with a row, a column or a dimension too many; tuples also into no rows, and with a column too few.

    Without tuples, a kernel reads behind updates that have too few columns, so that its result is not repeatable.
    """
    shapes = {"columns": (3, 4), "rows": (4, 3), "rank": (3, 1, 3)} | ({"narrow": (3, 2)} if tuples else {})
    indices = _indices([2, 1, 0], tuples, "int32")
    recipes = {name: around(plain(5, 3), indices, plain(*shape)) for name, shape in shapes.items()}
    return recipes | ({"no_rows": around(plain(0, 3), indices, plain(3, 3))} if tuples else {})
