"""LowerBound, Unique, UniqueWithCounts and UpperBound: places in sorted rows, and values without repetitions."""

from functools import partial
from typing import Any, Literal

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.errors import raises
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
_TEXTS = {
    "plain": lambda draw, d: (np.array([b"%d" % n for n in draw.integers(41, low=0, high=99)], object),),
    "prefixes": lambda draw, d: (np.array([b"", b"a", b"ab", b"a\0", b"", b"A", b"ab", b"a" * 99], object),),
    "none": lambda draw, d: (np.empty(0, object),),
}


def _bound(name, raw, side: Literal["left", "right"]):
    """The specs of a search in sorted rows."""
    main: dict[str, Any] = {
        "ops": raw,
        "program": lambda tf, x, y: getattr(tf.raw_ops, raw)(sorted_inputs=x, values=y),
        "reference": partial(ref.bounds, side=side),
        "recipes": _RECIPES,
    }
    other = tuple(d for d in _ALL if d != "float32")
    rows = {"rows": lambda draw, d: (draw.values(d, 2, 3), draw.values(d, 3, 3))}
    refused = main | {"reference": raises("INVALID_ARGUMENT"), "recipes": rows}
    return (
        Spec(name=name, **main),
        Spec(name=f"{name}-other", dtypes=other, tier="full", **main),
        Spec(name=f"{name}-refused", **refused),
    )


def _unique(name, raw, outputs):
    """The specs of an op whose outputs are the first ones of `unique`."""
    main: dict[str, Any] = {
        "ops": raw,
        "program": lambda tf, x: tuple(getattr(tf.raw_ops, raw)(x=x)),
        "reference": lambda x: ref.unique(x)[:outputs],
        "recipes": _VECTORS,
    }
    other = (*(d for d in _ALL if d != "float32"), "bool")
    return (
        Spec(name=name, **main),
        Spec(name=f"{name}-other", dtypes=other, tier="full", **main),
        Spec(name=f"{name}-bytes", dtypes=("bytes",), tier="full", **{**main, "modes": WITHOUT_XLA, "recipes": _TEXTS}),
    )


SPECS = (
    *_bound("lower-bound", "LowerBound", "left"),
    *_unique("unique", "Unique", 2),
    *_unique("unique-with-counts", "UniqueWithCounts", 3),
    *_bound("upper-bound", "UpperBound", "right"),
)
