"""Sparse segments: ops that reduce rows that indices gather and that share an id, and the ops of their gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Sparse, Spec
from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.derived.unknown_shape import sized
from tf_opdiff.suites.forms.array_ops.scatter_recipes import Values, special_numbers
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.part import Op, Part, calling, part
from tf_opdiff.suites.forms.reductions import segment_recipes as recipes
from tf_opdiff.suites.forms.reductions.segment_promises import Segments, SparseSegments
from tf_opdiff.suites.reference.promises.subnormal import Others, wholes
from tf_opdiff.suites.reference.reductions.segments import Reduction

#: Indices into nine rows: each row once, and some of them twice.
ONCE, TWICE = (8, 1, 0, 3, 2, 5, 4, 7, 6), (0, 3, 3, 1, 6, 0, 8, 8, 2)
#: The most segments of an op that has their number as an argument.
COUNT = 8
#: The roundings of a factor: a number of rows, its root, and the product.
_FACTORS = 3


def sparse_segments(how: Reduction, count: int | None = None) -> Part:
    """A part: the results of an op that gathers rows and reduces them, its derivatives, and its errors.

    Args:
      how: the reduction.
      count: the number of segments, if it is an argument of the op.
    """
    promise = SparseSegments(own=Segments(how=how, count=count, factors=_FACTORS))
    more = {} if count is None else {"num_segments": count}
    promised: dict[str, Any] = {
        "reference": promise.reference,
        "vjp": promise.vjp,
        "bound": {"output": promise.bound, "grad[0]": promise.gradient_bound},
        "ulp": {"output": 0.5, "grad": 0.5},
        "alternatives": {"output": promise.flushed_outputs, "grad[0]": promise.flushed_gradients},
        "unsigned_zeros": ("output",),  # a sum starts at 0, or at its first term, which may be -0
    }

    def specs(op: Op) -> Iterator[Spec]:
        op = replace(op, program=calling(op.raw, ("data", "indices", "segment_ids"), **more))
        main, *others = part(recipes=_main(how), **promised)(op)
        yield from (main, *others, *sizes(main, _sizes()))
        yield from (twin.but(hvp=None) for twin in linear("exact")(main))
        yield main.but(name=f"{main.name}-no-index", vjp=None, recipes={"no_index": _EMPTY})
        program = calling(op.raw, ("data", "indices", "segment_ids"), sparse_gradient=True, **more)
        yield from _sparse(how, promise, {**promised, "program": program})(op)
        yield from part("-refused", lowest_tier=True, recipes=_refused(), **IN_KERNEL)(op)

    return specs


def _sparse(how: Reduction, promise: SparseSegments, promised: Mapping[str, Any]) -> Part:
    """A part: results whose gradient has only the rows that were gathered.

    Args:
      how, promise: the reduction, and its promise.
      promised: the program, and the promise as fields of a spec whose gradient has all rows.
    """

    def bound(u: float, g: Any, x: np.ndarray, i: np.ndarray, ids: np.ndarray) -> Any:
        return np.broadcast_to(promise.gradient_bound(u, g, x, i, ids), x.shape)[np.unique(i)]

    def vjp(g: Any, x: np.ndarray, i: np.ndarray, ids: np.ndarray) -> tuple[Any, ...]:
        rows = np.unique(i)
        return Sparse(promise.vjp(g, x, i, ids)[0][rows], rows, x.shape), None, None

    own = {"vjp": vjp, "bound": {**promised["bound"], "grad[0]": bound}, "alternatives": {}}
    return part(
        "-sparse-gradient",
        lowest_tier=True,
        recipes={label: _main(how)[label] for label in ("exact", "int64")},
        **{**promised, **own},
    )


def _places(i: Sequence[int], dtype: str = "int32") -> list[np.ndarray]:
    """Indices, and sorted ids of as many rows."""
    return [np.array(i, dtype), np.array(recipes.SORTED, dtype)]


def _main(how: Reduction) -> dict[str, Recipe]:
    """Moderate numbers, numbers with exact sums, special numbers that meet each other, and int64."""

    def special(draw: Draw, dtype: np.dtype) -> np.ndarray:
        rows = np.empty(recipes.SHAPE, dtype)
        rows[np.array(ONCE)] = recipes.meeting(True, special_numbers(dtype), special_numbers(dtype))
        return rows

    def whole(*shape: int) -> Values:
        return lambda draw, dtype: recipes.exact(how, draw, dtype, *shape)

    return {
        "int32": recipes.shaped(*recipes.SHAPE, then=_places(TWICE)),
        "exact": recipes.rows(whole(*recipes.SHAPE), *_places(TWICE)),
        "special": recipes.rows(special, *_places(ONCE)),
        "int64": recipes.rows(whole(9, 5), *_places(TWICE, "int64")),
    }


def _sizes() -> dict[str, Recipe]:
    """Rows, indices and ids without elements or with one."""
    shapes: dict[str, tuple[tuple[int, ...], int]] = {
        "none": ((0,), 0),
        "no_columns": ((3, 0), 2),
        "one": ((1,), 1),
        "one_by_one": ((1, 1), 1),
        "empty_inside": ((1, 0, 2), 1),
    }
    return {name: recipes.shaped(*x, then=[np.arange(n, dtype="int32")] * 2) for name, (x, n) in shapes.items()}


#: No index, without gradient: a CPU returns memory that it did not write, which no record repeats.
_EMPTY = recipes.shaped(7, 3, then=[np.zeros(0, "int32")] * 2)


def _refused() -> dict[str, Recipe]:
    """Indices out of range, and ids that fall or are negative."""
    wrong: dict[str, tuple[Sequence[int], Sequence[int]]] = {
        "at_end": ((1, 5, 0), (0, 1, 1)),
        "beyond_int32": ((1, 2**32 + 1, 0), (0, 1, 1)),
        "falling": ((1, 2, 0), (0, 1, 0)),
        "negative": ((1, -1, 0), (0, 1, 1)),
        "negative_id": ((1, 2, 0), (-1, 0, 1)),
    }
    return {
        name: recipes.shaped(5, 3, then=[np.array(i, "int64" if max(i) > 2**31 else "int32"), np.array(ids, "int32")])
        for name, (i, ids) in wrong.items()
    }


def sparse_segment_gradient(how: Reduction, *, unique: bool = False) -> Part:
    """A part: the op of a gradient.

    Args:
      how: the reduction whose gradient it computes.
      unique: whether it returns only the rows that were gathered, and their sorted numbers.
    """
    rows, size = 11, "dense_output_dim0" if unique else "output_dim0"

    def gathered(i: np.ndarray, dense: np.ndarray) -> np.ndarray:
        return dense[np.unique(i)] if unique else dense

    def promised(g: np.ndarray, i: np.ndarray, ids: np.ndarray) -> tuple[SparseSegments, tuple[Any, ...]]:
        """The promise whose gradient the op computes, and the arguments of its functions."""
        own = Segments(how=how, count=len(g), factors=_FACTORS)
        return SparseSegments(own=own), (g, np.zeros((rows, *g.shape[1:])), i, ids)

    def reference(g: np.ndarray, i: np.ndarray, ids: np.ndarray) -> Any:
        promise, arguments = promised(g, i, ids)
        result = gathered(i, promise.vjp(*arguments)[0])
        return (result, np.unique(i)) if unique else result

    def bound(u: float, _: Any, g: np.ndarray, i: np.ndarray, ids: np.ndarray) -> Any:
        promise, arguments = promised(g, i, ids)
        return gathered(i, promise.gradient_bound(u, *arguments))

    def flushed(dtype: np.dtype, _: Any, g: np.ndarray, i: np.ndarray, ids: np.ndarray) -> Others:
        promise, arguments = promised(g, i, ids)
        return wholes(*(gathered(i, result) for (result,) in promise.flushed_gradients(dtype, *arguments)))

    def specs(op: Op) -> Iterator[Spec]:
        call = calling(op.raw, ("grad", "indices", "segment_ids"), **{size: rows})
        op = replace(op, program=(lambda tf, *xs: tuple(call(tf, *xs))) if unique else call)
        main, *others = part(
            recipes=_gradients(),
            reference=reference,
            bound={"output[0]": bound},
            ulp={"output[0]": 0.5},
            alternatives={"output[0]": flushed},
        )(op)
        few = main.but(name=f"{main.name}-sizes", recipes=_FEW_UPSTREAMS)
        yield from (main, *others, *sized(lambda op: [few])(op))

    return specs


#: One upstream, and segments without columns.
_FEW_UPSTREAMS: dict[str, Recipe] = {
    "one": recipes.shaped(1, 1, then=[np.array([3], "int32"), np.array([0], "int32")]),
    "no_columns": recipes.shaped(2, 0, then=[np.array([4, 1], "int32"), np.array([0, 1], "int32")]),
}


def _gradients() -> dict[str, Recipe]:
    """Upstreams of seven segments: moderate, exact and special ones, and int64. For no index, see `_EMPTY`."""

    def special(draw: Draw, dtype: np.dtype) -> np.ndarray:
        return np.resize(special_numbers(dtype), recipes.UPSTREAMS)

    def whole(draw: Draw, dtype: np.dtype) -> np.ndarray:
        return (2 * draw.integers(7, 43, low=-3, high=4)).astype(dtype)

    return {
        "int32": recipes.shaped(7, 43, then=_places(TWICE)),
        "exact": recipes.rows(whole, *_places(TWICE)),
        "special": recipes.rows(special, *_places(TWICE)),
        "int64": recipes.rows(whole, *_places(TWICE, "int64")),
    }
