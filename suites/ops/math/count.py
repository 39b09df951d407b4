"""Ops that count numbers, or add up their weights, and that number the interval of each."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import UNARY, subnormals
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.position import positions
from tf_opdiff.suites.derived.sizes import alike, elementwise_sizes
from tf_opdiff.suites.derived.special_places import short
from tf_opdiff.suites.derived.twin import ELEMENTWISE
from tf_opdiff.suites.forms.counts import counts, exact, special, unweighted, weighted
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.reference import counts as ref
from tf_opdiff.suites.reference.subnormal import flushed_in

_BOUNDARIES = (-1.0, 0.0, 0.1, 0.1, 2.0, 16777220.0)


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


def _negative(*shape):
    def recipe(draw, dtype):
        numbers = draw.integers(*shape, low=0, high=5).astype("int32")
        numbers.ravel()[1] = -1
        return numbers, draw.values(dtype, *shape)

    return recipe


_WRONG: dict[str, dict[str, Any]] = {"negative": {"size": -1}, "vector": {"size": [7]}}
#: The range and the number of the bins of a histogram, which have width 1.
_RANGE, _BINS = (-4.0, 4.0), 8
_HISTOGRAM: dict[str, Any] = {
    "ops": "HistogramFixedWidth",
    "program": lambda tf, x: tf.raw_ops.HistogramFixedWidth(
        values=x, value_range=tf.constant(_RANGE, x.dtype), nbins=_BINS
    ),
    "reference": lambda x: ref.histogram(x, *_RANGE, _BINS),
    "recipes": {
        "values": lambda draw, dtype: (
            np.append(draw.uniform(5, 7) * 6, [-4, -3, 0, 3.5, 4, -np.inf, np.inf]).astype(dtype),
        ),
        "matrix": lambda draw, dtype: (draw.values(dtype, 3, 5),),
        "one": lambda draw, dtype: (np.array(2.5, dtype),),
        "empty": lambda draw, dtype: (np.zeros((0, 3), dtype),),
    },
}
_FLOATS = {**UNARY, "subnormals": subnormals}
_INTEGERS = {"beside": _beside_boundaries, **UNARY}

_BUCKETIZE = tuple(
    Spec(
        name=f"bucketize{suffix}",
        ops="Bucketize",
        program=_bucketize,
        reference=_buckets,
        recipes=recipes,
        dtypes=(dtype,),
        tier=tier,
        aspect=ELEMENTWISE if recipes is _FLOATS else "",
        alternatives={"output": lambda dtype, g, x: [_buckets(flushed_in(dtype, x))]} if recipes is _FLOATS else {},
    )
    for suffix, recipes, dtype, tier in (
        ("", _FLOATS, "float32", "default"),
        ("-other", _FLOATS, "float64", "full"),
        ("-integer", _INTEGERS, "int32", "default"),
        ("-integer-other", _INTEGERS, "int64", "full"),
    )
)
_MOVED = tuple(positions(_BUCKETIZE[0]))

SPECS = (
    *counts(
        "bincount",
        op="Bincount",
        program=_bincount,
        reference=ref.bins,
        attrs={"few": {"size": 7}, "many": {"size": 40}, "none": {"size": 0}},
        recipes={
            "weighted": weighted(61),
            "exact": exact(61),
            "unweighted": unweighted(61),
            "matrix": exact(5, 7),
            "special": special,
        },
        small={"empty": unweighted(0), "one": exact(1), "one_by_one": exact(1, 1), "empty_inside": exact(2, 0, 3)},
        refused={"negative": _negative(9), "fewer_weights": lambda draw, d: (*exact(5)(draw, d)[:1], np.ones(3, d))},
        misshapen={},
        wrong=_WRONG,
    ),
    *_BUCKETIZE,
    *_MOVED,
    *short(_BUCKETIZE[0]),
    *elementwise_sizes((*_BUCKETIZE, *_MOVED), alike(1)),
    Spec(
        name="bucketize-without-boundaries",
        ops="Bucketize",
        program=lambda tf, x: tf.raw_ops.Bucketize(input=x, boundaries=[]),
        reference=lambda x: ref.buckets(x, ()),
        recipes={"plain": UNARY["plain"]},
        constant=("output[0]",),
    ),
    Spec(
        name="bucketize-unsorted",
        ops="Bucketize",
        program=_bucketize,
        reference=raises("INVALID_ARGUMENT"),
        recipes={"plain": UNARY["plain"]},
        attrs={"falling": {"boundaries": [1.0, 0.0]}},
    ),
    *counts(
        "dense-bincount",
        op="DenseBincount",
        program=_dense,
        reference=ref.row_bins,
        attrs={
            "few": {"size": 7, "binary": False},
            "binary": {"size": 7, "binary": True},
            "none": {"size": 0, "binary": False},
        },
        recipes={
            "weighted": weighted(61),
            "exact": exact(5, 23, index="int64"),
            "unweighted": unweighted(61, index="int64"),
            "rows": weighted(5, 23),
            "row": exact(1, 23),
            "unweighted_rows": unweighted(5, 23),
            "special": special,
        },
        small={"empty": unweighted(0), "one": exact(1), "no_rows": exact(0, 3), "no_columns": unweighted(3, 0)},
        refused={
            "negative": _negative(9),
            "negative_in_row": _negative(2, 5),
            "fewer_weights": lambda draw, d: (*exact(5)(draw, d)[:1], np.ones(3, d)),
        },
        misshapen={"rank_three": exact(2, 3, 4)},
        wrong=_WRONG,
    ),
    Spec(name="histogram-fixed-width", **_HISTOGRAM),
    Spec(name="histogram-fixed-width-other", dtypes=("float64",), tier="full", **_HISTOGRAM),
)
