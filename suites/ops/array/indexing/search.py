"""ListDiff to UpperBound: what a list has and another lacks, places in sorted rows, values without repetitions."""

from functools import partial
from typing import Any, Literal

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import IN_KERNEL, undocumented
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.reference.reductions import search as ref

_ALL = (*FLOATS, *INTEGERS)


def _sorted(draw, dtype):
    """A recipe: three sorted rows with repetitions, and values inside, between, below and above."""
    low = 0 if np.dtype(dtype).kind == "u" else -6
    rows = np.sort(draw.integers(3, 11, low=low, high=7), -1).astype(dtype)
    return rows, draw.integers(3, 17, low=low, high=9).astype(dtype)


def _ends(draw, dtype):
    """A recipe: the ends of the range, infinities and zeros of both signs, in the rows and as values."""
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        row: list[float] = [info.min, info.min, info.min + 1, 3, 3, info.max - 1, info.max]
    else:
        row = [-np.inf, -np.inf, -1, -0.0, 0.0, 2, np.inf]
    values = np.array([*row, 1]).astype(dtype)
    return np.stack([np.array(row).astype(dtype)] * 2), np.stack([values, values[::-1]])


_RECIPES = {
    "plain": _sorted,
    "ends": _ends,
    "one": lambda draw, d: (draw.values(d, 1, 1), draw.values(d, 1, 1)),
    "no_values": lambda draw, d: (np.sort(draw.values(d, 2, 5), -1), draw.values(d, 2, 0)),
    "no_row": lambda draw, d: (draw.values(d, 2, 0), draw.values(d, 2, 3)),
}
_VECTORS = {
    "plain": lambda draw, d: (draw.integers(41, low=0, high=9).astype(d),),
    "alike": lambda draw, d: (np.ones(7, d),),
    "different": lambda draw, d: (np.arange(7)[::-1].astype(d),),
    "one": lambda draw, d: (np.ones(1, d),),
    "none": lambda draw, d: (np.ones(0, d),),
}
#: Numbers that are equal though their bits differ, and numbers that are not equal to themselves.
_SPECIAL = {
    "zeros": lambda draw, d: (np.array([-0.0, 1.0, 0.0, -0.0, 1.0, 0.0], d),),
    "nan": lambda draw, d: (np.array([np.nan, np.inf, 1.0, np.nan, -np.inf, np.inf, np.nan], d),),
    "blocks": lambda draw, d: (draw.integers(5001, low=0, high=2000).astype(d),),
}
_TEXTS = {
    "plain": lambda draw, d: (np.array([b"%d" % n for n in draw.integers(41, low=0, high=99)], object),),
    "prefixes": lambda draw, d: (np.array([b"", b"a", b"ab", b"a\0", b"", b"A", b"ab", b"a" * 99], object),),
    "none": lambda draw, d: (np.empty(0, object),),
}


def _bound(side: Literal["left", "right"]) -> dict[str, Any]:
    """The fields of a search in sorted rows."""
    return {"arguments": ("sorted_inputs", "values"), "reference": partial(ref.bounds, side=side)}


def _left(x, y):
    """The numbers of a vector that another one lacks, and their places."""
    at = np.flatnonzero(~np.isin(x, y))
    return x[at], at.astype(np.int32)


def _unique_rows(x, axis):
    """The slices along an axis without repetitions, in their order, and which of them stands at each place."""
    slices = np.moveaxis(x, int(axis[0]), 0)
    _, first, inverse = np.unique(slices, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.moveaxis(slices[first[order]], 0, int(axis[0])), np.argsort(order)[inverse].astype(np.int32)


def _along(axis, *shape, of=np.int64):
    """A recipe: few different slices along an axis, whose number is of a dtype."""

    def recipe(draw, dtype):
        rows = draw.integers(*shape, low=0, high=2)
        return rows.astype(dtype), np.array([axis], of)

    return recipe


_SLICES = {"rows": _along(0, 17, 2), "columns": _along(1, 3, 11, of=np.int32), "planes": _along(-1, 2, 2, 9)}
_LISTS = {
    "plain": lambda draw, d: tuple(draw.integers(n, low=0, high=9).astype(d) for n in (41, 5)),
    "all": lambda draw, d: (np.ones(7, d), np.ones(2, d)),
    "nothing": lambda draw, d: (np.arange(7).astype(d), np.zeros(0, d)),
}
_SMALL_LISTS = {
    "none": lambda draw, d: (np.zeros(0, d), np.ones(2, d)),
    "one": lambda draw, d: (np.ones(1, d), np.zeros(1, d)),
}
#: Shapes of sorted rows and of values, without elements or with one.
_FEW = {
    "no_rows": ((0, 3), (0, 2)),
    "no_columns": ((3, 0), (3, 2)),
    "no_values": ((3, 2), (3, 0)),
    "one": ((1, 1), (1, 1)),
}
#: The parts of a search in sorted rows, and those of an op that finds repetitions.
_SEARCHED = (
    part(recipes=_RECIPES, dtypes=tiered(_ALL, ("float32",))),
    small({label: shaped(*shapes) for label, shapes in _FEW.items()}),
    part("-refused", recipes={"rows": shaped((2, 3), (3, 3))}, **IN_KERNEL),
    part(
        "-unsorted",
        recipes={"rows": lambda draw, d: (draw.values(d, 2, 9), draw.values(d, 2, 5))},
        reference=undocumented("nothing documents the places in a row that is not sorted", error=False),
        lowest_tier=True,
    ),
)
_UNIQUE = (
    part(recipes=_VECTORS, dtypes=tiered((*_ALL, "bool"), ("float32",))),
    small({"none": _VECTORS["none"], "one": _VECTORS["one"]}),
    part("-special", recipes=_SPECIAL, dtypes=("float32",)),
    part("-bytes", recipes=_TEXTS, dtypes=("bytes",), modes=WITHOUT_XLA, tier="full"),
)

SPECS = (
    *op(
        "list-diff",
        "ListDiff",
        part(recipes=_LISTS, dtypes=tiered(_ALL)),
        small(_SMALL_LISTS),
        part(
            "-bytes",
            recipes={"plain": lambda draw, d: (*_TEXTS["plain"](draw, d), np.array([b"3", b"44"], object))},
            dtypes=("bytes",),
            tier="full",
        ),
        part(
            "-of-xla",  # XLA has to know the lists when it compiles
            program=lambda tf, x, of, without: tuple(
                tf.raw_ops.ListDiff(x=tf.constant(of, x.dtype), y=tf.constant(without, x.dtype))
            ),
            reference=lambda x, of, without: _left(np.array(of, x.dtype), without),
            recipes={"one": lambda draw, d: (np.ones(1, d),)},
            attrs={"some": {"of": [1, 2, 2, 5, 1, 7], "without": [2, 7]}, "all": {"of": [1, 1], "without": [1]}},
            constant=("output[0]", "output[1]"),
            dtypes=("int32", "int64"),
            modes=("xla",),
        ),
        program=lambda tf, x, y: tuple(tf.raw_ops.ListDiff(x=x, y=y)),
        reference=_left,
        modes=WITHOUT_XLA,
        ordinary=ordinary.FLUSHED,
    ),
    *op("lower-bound", "LowerBound", *_SEARCHED, **_bound("left"), ordinary=ordinary.UNSORTED),
    *op(
        "unique",
        "Unique",
        *_UNIQUE,
        program=lambda tf, x: tuple(tf.raw_ops.Unique(x=x)),
        reference=lambda x: ref.unique(x)[:2],
        ordinary=ordinary.FLUSHED | ordinary.ZERO,
    ),
    *op(
        "unique-v2",
        "UniqueV2",
        part(recipes=_SLICES, dtypes=tiered((*_ALL, "bool"))),
        part(
            "-bytes",
            recipes={"texts": lambda draw, d: (*_TEXTS["plain"](draw, d), np.array([0], np.int64))},
            dtypes=("bytes",),
            tier="full",
        ),
        small({"none": _along(0, 0, 2), "no_planes": _along(0, 0, 2, 3), "one": _along(0, 1, 1)}),
        part(
            "-of-xla",  # XLA has to know the axis when it compiles
            program=lambda tf, x, axis: tuple(tf.raw_ops.UniqueV2(x=x, axis=tf.constant([axis], tf.int64))),
            reference=lambda x, axis: _unique_rows(x, [axis]),
            recipes={"rows": lambda draw, d: (draw.integers(7, 2, low=0, high=2).astype(d),)},
            attrs={"rows": {"axis": 0}, "columns": {"axis": 1}},
            dtypes=tiered((*_ALL, "bool"), ("int32", "float32", "int64")),
            modes=("xla",),
        ),
        program=lambda tf, x, axis: tuple(tf.raw_ops.UniqueV2(x=x, axis=axis)),
        reference=_unique_rows,
        modes=WITHOUT_XLA,
        ordinary=ordinary.FLUSHED | ordinary.ZERO,
    ),
    *op(
        "unique-with-counts",
        "UniqueWithCounts",
        *_UNIQUE,
        program=lambda tf, x: tuple(tf.raw_ops.UniqueWithCounts(x=x)),
        reference=ref.unique,
        ordinary=ordinary.FLUSHED | ordinary.ZERO,
    ),
    *op("upper-bound", "UpperBound", *_SEARCHED, **_bound("right"), ordinary=ordinary.UNSORTED),
)
