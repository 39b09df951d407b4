"""Averages of windows, and their gradients as ops of their own. Errors count the roundings of any order."""

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.neural_networks import pooling
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes.elements import not_numbers, plain, small_integers, tiny
from tf_opdiff.suites.reference.neural_networks.pooling import Average, AverageGradient

_FEW = {"plain": plain, "exact": small_integers}
_RECIPES = {**_FEW, "special": not_numbers, "tiny": tiny, "upstreams": plain}
#: The faults that shape inference does not look at.
_LATE = dict.fromkeys(("no_stride", "negative_stride", "too_large", "too_flat"), IN_KERNEL)


def _average(pools):
    """The fields of averages of windows."""
    rank = len(pools["valid"].size)
    calls = pooling.pooled(pools, "tensor")
    return {
        "promise": pooling.windowed(Average),
        "calls": calls,
        "batch": calls,
        "small": pooling.small(rank, "tensor"),
        "wrong": pooling.refused(rank, pooling.bad_attributes(rank), "tensor"),
        **_SHARED,
    }


def _of_shapes(pools):
    """The calls of the gradient, each with the shape of the tensor that was pooled."""
    each = (pooling.pooled({label: pool}, "result", shape=pool.shape) for label, pool in pools.items())
    return {label: one for calls in each for label, one in calls.items()}


def _gradient(raw, pools):
    """The fields of the gradient of averages.

    Its kernel does not look at the rank of an upstream. One that is too deep is left out: the kernel of a CPU reads
    beyond its memory, and the result is another one every time.
    """

    def program(tf, g, shape=None, **attrs):
        """A call with the shape of the tensor as a constant, or with that of the upstream."""
        size = tf.shape(g) if shape is None else [*shape]
        return getattr(tf.raw_ops, raw)(orig_input_shape=size, grad=g, **attrs)

    rank = len(pools["valid"].size)
    bad = pooling.bad_attributes(rank, **_LATE)
    fitting = {label: change for label, change in bad.items() if label not in ("large-by-one", "too-deep")}
    return {
        "raw": raw,
        "program": program,
        "promise": pooling.windowed(AverageGradient),
        "calls": _of_shapes(pools),
        "batch": pooling.pooled(pooling.together(rank), "result"),
        "small": pooling.small(rank, "result"),
        "wrong": pooling.refused(rank, fitting, "result", shape=(1, *(3,) * rank, 2)),
        **_SHARED,
    }


def _first(pools):
    """A part: images whose channels are first."""
    return also("-channels-first", calls=pooling.pooled(pools, "tensor"), recipes=_FEW, dtypes=("float32",))


def _gradient_first(pools):
    """A part: the gradient by images whose channels are first. The gradient of this gradient is left out."""
    fields = {"recipes": _FEW, "gradient": False, "dtypes": ("float32",)}
    return also("-channels-first", calls=_of_shapes(pools), **fields)


_SHARED = {"recipes": _RECIPES, "second": ("plain", "exact")}
_DTYPES, _OF_CUBES = tiered(FLOATS), tiered(("float32", "bfloat16"))
SPECS = (
    *op(
        "avg-pool",
        "AvgPool",
        _first(pooling.CHANNELS_FIRST),
        arguments=("value",),
        dtypes=_DTYPES,
        **_average(pooling.POOLS),
    ),
    *op(
        "avg-pool-3d",
        "AvgPool3D",
        _first(pooling.CUBES_CHANNELS_FIRST),
        arguments=("input",),
        dtypes=_OF_CUBES,
        **_average(pooling.CUBES),
    ),
    *op(
        "avg-pool-3d-grad",
        parts=(_gradient_first(pooling.CUBES_CHANNELS_FIRST),),
        dtypes=_OF_CUBES,
        **_gradient("AvgPool3DGrad", pooling.CUBES),
    ),
    *op(
        "avg-pool-grad",
        parts=(_gradient_first(pooling.CHANNELS_FIRST),),
        dtypes=_DTYPES,
        **_gradient("AvgPoolGrad", pooling.POOLS),
    ),
)
