"""LowerBound, Unique, UniqueWithCounts and UpperBound: places in sorted rows, and values without repetitions."""

from functools import partial
from typing import Any, Literal

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import FLOATS, INTEGERS
from tf_opdiff.suites.forms import ordinary
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.pairs import shaped
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.reference import search as ref

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


#: The parts of a search in sorted rows, and those of an op that finds repetitions.
_SEARCHED = (
    part(recipes=_RECIPES, dtypes=tiered(_ALL, ("float32",))),
    part("-refused", recipes={"rows": shaped((2, 3), (3, 3))}, **IN_KERNEL),
)
_UNIQUE = (
    part(recipes=_VECTORS, dtypes=tiered((*_ALL, "bool"), ("float32",))),
    part("-special", recipes=_SPECIAL, dtypes=("float32",)),
    part("-bytes", recipes=_TEXTS, dtypes=("bytes",), modes=WITHOUT_XLA, tier="full"),
)

SPECS = (
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
        "unique-with-counts",
        "UniqueWithCounts",
        *_UNIQUE,
        program=lambda tf, x: tuple(tf.raw_ops.UniqueWithCounts(x=x)),
        reference=ref.unique,
        ordinary=ordinary.FLUSHED | ordinary.ZERO,
    ),
    *op("upper-bound", "UpperBound", *_SEARCHED, **_bound("right"), ordinary=ordinary.UNSORTED),
)
