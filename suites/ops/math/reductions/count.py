"""Ops that count numbers, or add up their weights, and that number the interval of each."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import UNARY, edges, special_values, subnormals
from tf_opdiff.suites.derived.position import positions
from tf_opdiff.suites.derived.special_places import short
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.elements import plain, small_integers
from tf_opdiff.suites.reference.promises.subnormal import flushed_in, wholes
from tf_opdiff.suites.reference.reductions import counts as ref

#: Numbers are below this one, so that a smaller count of bins leaves some out.
_NUMBERS = 9
_BOUNDARIES = (-1.0, 0.0, 0.1, 0.1, 2.0, 16777220.0)


def _numbers(*shape, index="int32", weights=plain, high=_NUMBERS):
    """A recipe: numbers, and their weights."""
    return lambda draw, dtype: (draw.integers(*shape, low=0, high=high).astype(index), weights(draw, dtype, *shape))


def _exact(*shape, index="int32"):
    """A recipe: numbers, and small integers as weights, whose sums are exact."""
    return _numbers(*shape, index=index, weights=small_integers)


def _unweighted(*shape, index="int32"):
    """A recipe: numbers without weights; each number counts as 1."""
    return _numbers(*shape, index=index, weights=lambda draw, dtype, *shape: np.zeros(0, dtype))


def _special(draw, dtype):
    """Special values, or the limits of integers, as weights: alone in a bin, or together with others."""
    values = special_values(dtype) if dtype.kind == "f" else np.unique(edges(draw, dtype)[0])
    other = np.arange(len(values))[::-1] % 3
    return np.concatenate([np.arange(len(values)), other]).astype("int32"), np.concatenate([values, values])


def _plain(*shape):
    """A recipe: plain numbers."""
    return lambda draw, dtype: (draw.values(dtype, *shape),)


def _negative(*shape):
    def recipe(draw, dtype):
        numbers, weights = _numbers(*shape, high=5)(draw, dtype)
        numbers.ravel()[1] = -1
        return numbers, weights

    return recipe


def _fewer_weights(draw, dtype):
    return (*_exact(5)(draw, dtype)[:1], np.ones(3, dtype))


def _bincount(tf, numbers, weights, size):
    return tf.raw_ops.Bincount(arr=numbers, size=tf.constant(size, "int32"), weights=weights)


def _dense(tf, numbers, weights, size, binary=False):
    return tf.raw_ops.DenseBincount(
        input=numbers, size=tf.constant(size, numbers.dtype), weights=weights, binary_output=binary
    )


def _bucketize(tf, x, boundaries=_BOUNDARIES):
    return tf.raw_ops.Bucketize(input=x, boundaries=list(boundaries))


def _buckets(x):
    return ref.buckets(x, _BOUNDARIES)


def _beside_boundaries(draw, dtype):
    """Integers around boundaries; those around 2^24 are more than a float32 can tell apart."""
    near = np.array([-2, -1, 0, 1, 2, 3, 16777215, 16777217, 16777218, 16777219, 16777220, 16777221])
    return (near.astype(dtype),)


_WRONG_SIZE: dict[str, dict[str, Any]] = {"negative": {"size": -1}, "vector": {"size": [7]}}
_DTYPES = tiered(("float32", "float64", "int32", "int64"), ("float32",))
_FEW = {"few": {"size": 7}}
_FEW_ROWS = {"few": {"size": 7, "binary": False}}
_BINS, _ROWS = ref.Sums(ref.bins).fields, ref.Sums(ref.row_bins).fields
#: The range and the number of the bins of a histogram, which have width 1.
_RANGE, _WIDTHS = (-4.0, 4.0), 8
_FLOATS: dict[str, Any] = {
    "recipes": {**UNARY, "subnormals": subnormals},
    "every_input": True,
    "alternatives": {"output": lambda dtype, g, x: wholes(_buckets(flushed_in(dtype, x)))},
}

SPECS = (
    *op(
        "bincount",
        "Bincount",
        part(
            recipes={
                "weighted": _numbers(61),
                "exact": _exact(61),
                "unweighted": _unweighted(61),
                "matrix": _exact(5, 7),
                "special": _special,
            },
            attrs=_FEW | {"many": {"size": 40}, "none": {"size": 0}},
            dtypes=_DTYPES,
            **_BINS,
        ),
        small(
            {"empty": _unweighted(0), "one": _exact(1), "one_by_one": _exact(1, 1), "empty_inside": _exact(2, 0, 3)},
            attrs=_FEW,
            **_BINS,
        ),
        part("-refused", recipes={"negative": _negative(9), "fewer_weights": _fewer_weights}, attrs=_FEW, **IN_KERNEL),
        part("-wrong-size", recipes={"weighted": _numbers(61)}, attrs=_WRONG_SIZE, **WHEN_BUILT),
        program=_bincount,
    ),
    *op(
        "bucketize",
        "Bucketize",
        part(twins=(positions, short), sizes=True, **_FLOATS),
        part("-other", dtypes=("float64",), tier="full", sizes=True, **_FLOATS),
        part(
            "-integer",
            recipes={"beside": _beside_boundaries, **UNARY},
            dtypes=tiered(("int32", "int64")),
            every_input=True,
        ),
        part(
            "-without-boundaries",
            program=lambda tf, x: tf.raw_ops.Bucketize(input=x, boundaries=[]),
            reference=lambda x: ref.buckets(x, ()),
            recipes={"plain": UNARY["plain"]},
            constant=("output[0]",),
        ),
        part(
            "-unsorted", recipes={"plain": UNARY["plain"]}, attrs={"falling": {"boundaries": [1.0, 0.0]}}, **IN_KERNEL
        ),
        arguments=("input",),
        program=_bucketize,
        reference=_buckets,
    ),
    *op(
        "dense-bincount",
        "DenseBincount",
        part(
            recipes={
                "weighted": _numbers(61),
                "exact": _exact(5, 23, index="int64"),
                "unweighted": _unweighted(61, index="int64"),
                "rows": _numbers(5, 23),
                "row": _exact(1, 23),
                "unweighted_rows": _unweighted(5, 23),
                "special": _special,
            },
            attrs=_FEW_ROWS | {"binary": {"size": 7, "binary": True}, "none": {"size": 0, "binary": False}},
            dtypes=_DTYPES,
            **_ROWS,
        ),
        small(
            {"empty": _unweighted(0), "one": _exact(1), "no_rows": _exact(0, 3), "no_columns": _unweighted(3, 0)},
            attrs=_FEW_ROWS,
            **_ROWS,
        ),
        part(
            "-refused",
            recipes={"negative": _negative(9), "negative_in_row": _negative(2, 5), "fewer_weights": _fewer_weights},
            attrs=_FEW_ROWS,
            **IN_KERNEL,
        ),
        part("-misshapen", recipes={"rank_three": _exact(2, 3, 4)}, attrs=_FEW_ROWS, **WHEN_BUILT),
        part("-wrong-size", recipes={"weighted": _numbers(61)}, attrs=_WRONG_SIZE, **WHEN_BUILT),
        program=_dense,
    ),
    *op(
        "histogram-fixed-width",
        "HistogramFixedWidth",
        part(
            recipes={
                "values": lambda draw, dtype: (
                    np.append(draw.uniform(5, 7) * 6, [-4, -3, 0, 3.5, 4, -np.inf, np.inf]).astype(dtype),
                ),
                "matrix": lambda draw, dtype: (draw.values(dtype, 3, 5),),
                "one": lambda draw, dtype: (np.array(2.5, dtype),),
                "empty": lambda draw, dtype: (np.zeros((0, 3), dtype),),
            },
            dtypes=tiered(("float32", "float64")),
        ),
        part(
            "-integer",
            recipes={"beside": lambda draw, dtype: (np.arange(-9, 10).astype(dtype),), **UNARY},
            dtypes=("int32", "int64"),
            tier="full",
        ),
        small({"none": _plain(0), "one": _plain(1), "no_rows": _plain(0, 3), "one_by_one": _plain(1, 1)}),
        program=lambda tf, x: tf.raw_ops.HistogramFixedWidth(
            values=x, value_range=tf.constant(np.array(_RANGE, x.dtype.as_numpy_dtype)), nbins=_WIDTHS
        ),
        reference=lambda x: ref.histogram(x, *_RANGE, _WIDTHS),
        ordinary={"nan_0": "nothing documents the bin of NaN"},
    ),
)
