"""Averages of windows, and their gradients as ops of their own. Errors count the roundings of any order."""

from functools import partial

from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.suites.forms.elements import not_numbers, plain, small_integers, tiny
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.pooling import (
    CHANNELS_FIRST,
    CUBES,
    CUBES_CHANNELS_FIRST,
    POOLS,
    bad_attributes,
    of_tensor,
    of_upstream,
    refused,
    small,
    together,
)
from tf_opdiff.suites.reference.pooling import Average, AverageGradient

_REST = tuple(dtype for dtype in FLOATS if dtype != "float32")
_RECIPES = {
    "plain": (plain,),
    "exact": (small_integers,),
    "special": (not_numbers,),
    "tiny": (tiny,),
    "upstreams": (plain,),
}
_FEW = {label: _RECIPES[label] for label in ("plain", "exact")}


#: The faults that shape inference does not look at.
_LATE = ("no_stride", "negative_stride", "too_large", "too_flat")


def _average(name, raw, argument, pools, rest):
    """The specs of averages."""
    rank, calls = len(pools["valid"].size), partial(of_tensor, raw, argument, Average)
    return op(
        name,
        raw,
        calls=calls(pools),
        recipes=_RECIPES,
        batch=calls(pools),
        small={label: calls(one) for label, one in small(rank).items()},
        wrong=refused(calls, rank, bad_attributes(rank)),
        dtypes=tiered(("float32", *rest)),
        second=("plain", "exact"),
    )


def _gradient(name, raw, pools, rest):
    """The specs of the gradient of averages.

    Its kernel does not look at the rank of an upstream. One that is too deep is left out: the kernel of a CPU reads
    beyond its memory, and the result is another one every time.
    """
    rank, calls = len(pools["valid"].size), partial(of_upstream, raw, AverageGradient)
    bad = {label: change for label, change in bad_attributes(rank).items() if label not in ("large_by_one", "too_deep")}
    late = {label: bad[label] | {"promise": IN_KERNEL} for label in _LATE}
    return op(
        name,
        raw,
        calls=calls(pools),
        recipes=_RECIPES,
        batch=calls(together(rank), sized=False),
        small={label: calls(one, sized=False) for label, one in small(rank).items()},
        wrong=refused(calls, rank, bad | late),
        dtypes=tiered(("float32", *rest)),
        second=("plain", "exact"),
    )


SPECS = (
    *_average("avg-pool", "AvgPool", "value", POOLS, _REST),
    *_average("avg-pool-3d", "AvgPool3D", "input", CUBES, ("bfloat16",)),
    *op(
        "avg-pool-3d-channels-first",
        "AvgPool3D",
        calls=of_tensor("AvgPool3D", "input", Average, CUBES_CHANNELS_FIRST),
        recipes=_FEW,
    ),
    *_gradient("avg-pool-3d-grad", "AvgPool3DGrad", CUBES, ("bfloat16",)),
    *op(
        "avg-pool-channels-first",
        "AvgPool",
        calls=of_tensor("AvgPool", "value", Average, CHANNELS_FIRST),
        recipes=_FEW,
    ),
    *_gradient("avg-pool-grad", "AvgPoolGrad", POOLS, _REST),
)
