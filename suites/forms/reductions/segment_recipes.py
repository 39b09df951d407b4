"""Segment recipes: rows, and the ids of their segments."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.array_ops.scatter_recipes import Values, finite_or_infinite, normal, plain, special_numbers
from tf_opdiff.suites.reference.reductions.segments import Reduction

#: Nine rows; two rows of a segment have place for each pair of special values.
SHAPE = (9, 43)
#: Ids with a repetition, a single row and segments without rows; and the same with ids below zero, in any order.
SORTED = (0, 0, 2, 2, 3, 3, 5, 5, 6)
UNSORTED = (5, 0, -1, 2, 0, 3, 2, 5, 3)
#: Segments of an op that has their number as an argument; the last one has no rows.
COUNT = 7
#: The shape of an upstream of the sorted segments.
UPSTREAMS: tuple[int, ...] = (7, 43)


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


def rows(values: Values, *then: np.ndarray) -> Recipe:
    """A recipe: the rows values(draw, dtype), then these arrays."""
    return lambda draw, dtype: (values(draw, dtype), *then)


def shaped(*shape: int, then: Sequence[np.ndarray]) -> Recipe:
    """A recipe: plain values of a shape, then these arrays."""
    return rows(plain(*shape), *then)


def main(how: Reduction, ordered: bool) -> dict[str, Recipe]:
    """The recipes of the main specs: moderate numbers, numbers with exact results, special numbers, and int64 ids.

    Special numbers of an op that chooses one are those that have a gradient: `nan` has the others.
    """
    numbers, ids, wide = normal if how.chooses else special_numbers, _ids(ordered), _ids(ordered, "int64")

    def whole(draw: Draw, dtype: np.dtype) -> np.ndarray:
        return exact(how, draw, dtype, *SHAPE)

    def planes(draw: Draw, dtype: np.dtype) -> np.ndarray:
        return exact(how, draw, dtype, 9, 5).reshape(3, 3, 5)

    return {
        "int32": shaped(*SHAPE, then=[ids]),
        "exact": rows(whole, ids),
        "special": rows(lambda draw, d: meeting(ordered, numbers(d), numbers(d)), ids),
        "int64": rows(whole, wide) if ordered else rows(planes, wide.reshape(3, 3)),
    }


def nan(how: Reduction, ordered: bool) -> dict[str, Recipe]:
    """The recipes of special numbers that have no gradient in an op that chooses one."""

    def met(*, first: bool) -> Values:
        def values(draw: Draw, dtype: np.dtype) -> np.ndarray:
            numbers = normal(dtype)
            nans = np.full(1, np.nan, dtype) if is_float(dtype) else numbers[:1]
            return meeting(ordered, *((nans, numbers) if first else (numbers, nans)))

        return values

    def subnormal(draw: Draw, dtype: np.dtype) -> np.ndarray:
        return meeting(ordered, finite_or_infinite(dtype), finite_or_infinite(dtype))

    each = {"nan_first": met(first=True), "nan_last": met(first=False), "subnormal": subnormal}
    return {name: rows(values, _ids(ordered)) for name, values in each.items()}


def products(ordered: bool) -> dict[str, Recipe]:
    """The recipes of the second order of products: powers of two, with no zero, one zero and two zeros in a segment."""

    def with_zeros(count: int) -> Recipe:
        def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
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

    return {
        name: shaped(*x, then=[np.arange(prod(ids), dtype="int32").reshape(ids)]) for name, (x, ids) in shapes.items()
    }


def refused(ordered: bool) -> dict[str, Recipe]:
    """Ids that a CPU refuses: out of order and negative ones, or ones that are too large."""
    falling = {"falling": ((0, 2, 1, 3), "int32"), "falling_int64": ((0, 0, 3, 2), "int64")}
    large = {"at_end": COUNT, "beyond_int32": 2**32 + 1, "far": 2**30}
    wrong = {name: ((0, n, 1), "int64" if n > 2**31 else "int32") for name, n in large.items()}
    each = falling if ordered else wrong
    return {name: shaped(len(ids), 3, then=[np.array(ids, dtype)]) for name, (ids, dtype) in each.items()}


def mismatched(ordered: bool) -> dict[str, Recipe]:
    """Ids whose shape is not that of the first dimensions of the rows."""
    shapes = {"long": (4,), "short": (2,)} | ({} if ordered else {"rank": (3, 2, 1)})
    return {name: shaped(3, 2, then=[np.zeros(shape, "int32")]) for name, shape in shapes.items()}
