"""Segment recipes: rows, and the ids of their segments."""

from __future__ import annotations

from math import prod

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import Draw, is_float, special_values
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.scatter_recipes import special_numbers
from tf_opdiff.suites.reference.segments import Reduction

#: Nine rows; two rows of a segment have place for each pair of special values.
SHAPE = (9, 43)
#: Ids with a repetition, a single row and segments without rows; and the same with ids below zero, in any order.
SORTED = (0, 0, 2, 2, 3, 3, 5, 5, 6)
UNSORTED = (5, 0, -1, 2, 0, 3, 2, 5, 3)
#: Segments of an op that has their number as an argument; the last one has no rows.
COUNT = 7
#: The shape of an upstream of the sorted segments.
UPSTREAMS: tuple[int, ...] = (7, 43)
Arrays = tuple[np.ndarray, ...]


def _ids(ordered: bool, dtype: str = "int32") -> np.ndarray:
    return np.array(SORTED if ordered else UNSORTED, dtype)


def exact(how: Reduction, draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers whose sums, means of two or products are exact in any order, with ties and zeros."""
    if how.product:
        sign = np.where(draw.booleans(*shape), 1, -1)
        powers = draw.integers(*shape, low=0, high=3) if dtype.kind in "iu" else draw.integers(*shape, low=-2, high=3)
        values = sign * 2.0**powers
        values[3] = 0
        return values.astype(dtype)
    whole = 2 * draw.integers(*shape, low=0 if dtype.kind == "u" else -3, high=4)
    return (whole * (1 + 2j) if dtype.kind == "c" else whole).astype(dtype)


def meeting(ordered: bool, numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Rows in segments of two, in which each of the numbers meets each of the others."""
    own, theirs = (a.ravel() for a in np.meshgrid(numbers, others, indexing="ij"))
    ids, width = _ids(ordered), SHAPE[1]
    rows = np.ones(SHAPE, numbers.dtype)
    pairs = [np.flatnonzero(ids == k) for k in np.unique(ids) if (ids == k).sum() == 2]
    for values, side in ((own, 0), (theirs, 1)):
        filled = np.resize(values, (len(pairs), width))
        for k, pair in enumerate(pairs):
            rows[pair[side]] = filled[k]
    return rows


def _normal(dtype: np.dtype) -> np.ndarray:
    """Infinities, zeros and the ends of the range; no NaN, and no subnormal numbers."""
    numbers = special_numbers(dtype)
    if not is_float(dtype):
        return numbers
    size = np.abs(numbers)
    return numbers[(size == 0) | (size >= ml_dtypes.finfo(dtype).smallest_normal)]


def main(how: Reduction, ordered: bool) -> dict[str, Recipe]:
    """The recipes of the main specs: moderate numbers, numbers with exact results, special numbers, and int64 ids.

    Special numbers of an op that chooses one are those that have a gradient: `nan` has the others.
    """

    def moderate(draw: Draw, dtype: np.dtype) -> Arrays:
        return draw.values(dtype, *SHAPE), _ids(ordered)

    def whole(draw: Draw, dtype: np.dtype) -> Arrays:
        return exact(how, draw, dtype, *SHAPE), _ids(ordered)

    def special(draw: Draw, dtype: np.dtype) -> Arrays:
        numbers = _normal(dtype) if how.chooses else special_numbers(dtype)
        return meeting(ordered, numbers, numbers), _ids(ordered)

    def int64(draw: Draw, dtype: np.dtype) -> Arrays:
        if ordered:
            return exact(how, draw, dtype, *SHAPE), _ids(ordered, "int64")
        return exact(how, draw, dtype, 9, 5).reshape(3, 3, 5), _ids(ordered, "int64").reshape(3, 3)

    return {"int32": moderate, "exact": whole, "special": special, "int64": int64}


def nan(how: Reduction, ordered: bool) -> dict[str, Recipe]:
    """The recipes of special numbers that have no gradient in an op that chooses one."""

    def met(first: bool) -> Recipe:
        def recipe(draw: Draw, dtype: np.dtype) -> Arrays:
            numbers = _normal(dtype)
            nans = np.full(1, np.nan, dtype) if is_float(dtype) else numbers[:1]
            return meeting(ordered, *((nans, numbers) if first else (numbers, nans))), _ids(ordered)

        return recipe

    def subnormal(draw: Draw, dtype: np.dtype) -> Arrays:
        numbers = special_values(dtype) if is_float(dtype) else special_numbers(dtype)
        numbers = numbers[~np.isnan(numbers)] if is_float(dtype) else numbers
        return meeting(ordered, numbers, numbers), _ids(ordered)

    return {"nan_first": met(True), "nan_last": met(False), "subnormal": subnormal}


def products(ordered: bool) -> dict[str, Recipe]:
    """The recipes of the second order of products: powers of two, with no zero, one zero and two zeros in a segment."""

    def with_zeros(count: int) -> Recipe:
        def recipe(draw: Draw, dtype: np.dtype) -> Arrays:
            ids = _ids(ordered)
            powers = 2.0 ** draw.integers(*SHAPE, low=-2, high=3) * (1 - 2.0 * draw.booleans(*SHAPE))
            powers[np.flatnonzero(ids == 2)[:count]] = 0
            return powers.astype(dtype), ids

        return recipe

    return {"nonzero": with_zeros(0), "zero": with_zeros(1), "zeros": with_zeros(2)}


def sizes(ordered: bool) -> dict[str, Recipe]:
    """Rows and ids without elements or with one."""
    shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
        "none": ((0,), (0,)),
        "no_rows": ((0, 3), (0,)),
        "no_columns": ((3, 0), (3,)),
        "one": ((1,), (1,)),
        "one_by_one": ((1, 1), (1,)),
        "empty_inside": ((1, 0, 2), (1,)),
    }
    if not ordered:
        shapes |= {"no_ids_of_many": ((3, 0, 2), (3, 0)), "one_id_of_many": ((1, 1, 2), (1, 1))}

    def recipe(x: tuple[int, ...], ids: tuple[int, ...]) -> Recipe:
        return lambda draw, d: (draw.values(d, *x), np.arange(prod(ids), dtype="int32").reshape(ids))

    return {name: recipe(*each) for name, each in shapes.items()}


def refused(ordered: bool) -> dict[str, Recipe]:
    """Ids that a CPU refuses: out of order and negative ones, or ones that are too large."""

    def ids(dtype: str, *values: int) -> Recipe:
        return lambda draw, d: (draw.values(d, len(values), 3), np.array(values, dtype))

    if ordered:
        return {"falling": ids("int32", 0, 2, 1, 3), "falling_int64": ids("int64", 0, 0, 3, 2)}
    return {
        "at_end": ids("int32", 0, COUNT, 1),
        "beyond_int32": ids("int64", 0, 2**32 + 1, 1),
        "far": ids("int32", 0, 2**30, 1),
    }


def mismatched(ordered: bool) -> dict[str, Recipe]:
    """Ids whose shape is not that of the first dimensions of the rows."""

    def recipe(*shape: int) -> Recipe:
        return lambda draw, d: (draw.values(d, 3, 2), np.zeros(shape, "int32"))

    return {"long": recipe(4), "short": recipe(2)} | ({} if ordered else {"rank": recipe(3, 2, 1)})
