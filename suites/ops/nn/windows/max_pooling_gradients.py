"""The gradients of largest elements as ops of their own, and the gradients of these."""

from dataclasses import replace
from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.calls import unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT, WRONG_OR_UNSUPPORTED
from tf_opdiff.suites.forms.neural_networks import pooling
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import infinite, limits, plain, small_integers, ties, tiny
from tf_opdiff.suites.forms.state.lists import no_gradient_kernel
from tf_opdiff.suites.reference.neural_networks.largest import (
    Largest,
    LargestAt,
    LargestGradient,
    LargestGradientAt,
    LargestSecond,
)

_WHOLE = ("int32", "int64", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
_ARGUMENTS = ("orig_input", "grad", "orig_output")
_FEW = {"plain": plain, "exact": (plain, small_integers)}
#: What all gradients have in common; recipes are of the tensor that was pooled, and of the upstream.
_SHARED: dict[str, Any] = {
    "recipes": {**_FEW, "ties": (ties, plain), "infinite": (plain, infinite), "upstreams": plain},
    "forward": {"tiny": (plain, tiny)},  # processors may flush it
    "of_small": (plain, small_integers),
    "of_integers": {"plain": plain, "limits": limits},
}
_SECOND = ("plain", "exact")
#: The faults that a gradient leaves to its kernel, by rank and by op; and those that shape inference sees in
#: MaxPoolGradGrad, whose result has the shape of the result of pooling.
_LATE_STRIDES = dict.fromkeys(("no_stride", "negative_stride"), IN_KERNEL)
_LATE_3D = _LATE_STRIDES | dict.fromkeys(("too_large", "large_by_one"), IN_KERNEL)
_LATE = _LATE_STRIDES | dict.fromkeys(("too_large", "large_by_one"), WRONG_OR_UNSUPPORTED)
_LATE_V2 = _LATE | dict.fromkeys(("few_sizes", "few_strides"), IN_KERNEL)
_EARLY = dict.fromkeys(("no_size", "negative_size"), WHEN_BUILT)


def _first(pools):
    """The calls of the gradient of pooling."""
    return pooling.pooled(pools, "tensor", "result", forward=pooling.windowed(Largest))


def _second_first(pools):
    """A part: the gradient of a gradient by images whose channels are first."""
    calls = pooling.pooled(pools, "tensor", "tensor", forward=pooling.windowed(Largest))
    return also("-channels-first", calls=calls, recipes=_FEW, **pooling.REFUSED_ON_CPU)


def _gradient(pools, promises, kind=LargestGradient, upstream="result"):
    """The fields of a gradient of largest elements. Some faults have other promises than those of pooling."""
    rank = len(pools["valid"].size)
    shapes, forward = ("tensor", upstream), pooling.windowed(Largest)
    return {
        "arguments": _ARGUMENTS,
        "promise": pooling.windowed(kind),
        "calls": pooling.pooled(pools, *shapes, forward=forward),
        "small": pooling.small(rank, *shapes, forward=forward),
        "wrong": pooling.refused(rank, pooling.bad_attributes(rank, **promises), *shapes, "result"),
        **_SHARED,
    }


def _differentiated(spec):
    """A spec of a gradient that has a gradient."""
    if spec.derivatives.vjp and not spec.derivatives.hvp and "float32" not in spec.dtypes:
        (side,) = no_gradient_kernel("MaxPoolGradGrad in this dtype", spec.reference).values()
        return replace(spec, contract={"*/xla": replace(side, alternatives=spec.tolerance.alternatives)})
    return pooling.in_float32_alone(spec)


def _second(pools):
    """The fields of the gradient of a gradient."""
    return _gradient(pools, _EARLY, LargestSecond, "tensor")


def _with_index(tf, x, g, *argmax, at=0, **attrs):
    """The gradient; without indices, every window has the same one."""
    indices = argmax[0] if argmax else tf.fill(tf.shape(g), tf.constant(at, tf.int64))
    return tf.raw_ops.MaxPoolGradWithArgmax(input=x, grad=g, argmax=indices, **attrs)


def _by_index(pools, **attributes):
    """The calls of the gradient by the indices of the largest elements."""
    return pooling.pooled(pools, "tensor", "result", forward=pooling.windowed(LargestAt), **attributes)


def _unfit(shapes=((2, 5, 7, 3), (2, 2, 2, 3)), promise=IN_KERNEL, **attributes):
    return unfit(*shapes, promise=promise, **pooling.POOLS["valid"].attrs | attributes)


_MOST = {label: pooling.POOLS[label] for label in ("valid", "same", "gaps", "larger")}
_INTEGERS: dict[str, Any] = {"dtypes": tiered(FLOATS), "integers": tiered(_WHOLE)}
_OF_CUBES: dict[str, Any] = {"dtypes": tiered(("float32", "bfloat16")), "second": _SECOND}
_TWICE: dict[str, Any] = {"second": _SECOND, "changed": _differentiated, **_INTEGERS}
SPECS = (
    *op(
        "max-pool-3d-grad",
        "MaxPool3DGrad",
        also("-channels-first", calls=_first(pooling.CUBES_CHANNELS_FIRST), recipes=_FEW, dtypes=("float32",)),
        also("-of-xla", recipes=_FEW, gradient=False, modes=("xla",), dtypes=tiered(("float16",), ())),
        changed=_differentiated,
        **_OF_CUBES,
        **_gradient(pooling.CUBES, _LATE_3D),
        ordinary=ordinary.OF_LARGEST,
    ),
    *op(
        "max-pool-3d-grad-grad",
        "MaxPool3DGradGrad",
        _second_first(pooling.CUBES_CHANNELS_FIRST),
        **_OF_CUBES,
        **_second(pooling.CUBES),
        ordinary=ordinary.OF_LARGEST_TWICE,
    ),
    *op(
        "max-pool-grad",
        "MaxPoolGrad",
        also("-channels-first", calls=_first(pooling.CHANNELS_FIRST), recipes=_FEW, dtypes=("float32",)),
        also("-explicit", calls=_first(pooling.EXPLICIT), recipes=_FEW, gradient=False, modes=WITHOUT_XLA),
        **_TWICE,
        **_gradient(pooling.POOLS, _LATE),
        ordinary=ordinary.OF_LARGEST,
    ),
    *op(
        "max-pool-grad-grad",
        "MaxPoolGradGrad",
        _second_first(pooling.CHANNELS_FIRST),
        second=_SECOND,
        **_INTEGERS,
        **_second(pooling.POOLS),
        ordinary=ordinary.OF_LARGEST,
    ),
    *op(
        "max-pool-grad-grad-v2",
        "MaxPoolGradGradV2",
        _second_first(pooling.CHANNELS_FIRST),
        gradient=False,
        **_INTEGERS,
        **_second(pooling.POOLS),
        ordinary=ordinary.OF_LARGEST,
    ),
    *op(
        "max-pool-grad-v2",
        "MaxPoolGradV2",
        also("-channels-first", calls=_first(pooling.CHANNELS_FIRST), recipes=_FEW, **pooling.REFUSED_ON_CPU),
        **_TWICE,
        **_gradient(pooling.POOLS, _LATE_V2),
        ordinary=ordinary.OF_LARGEST,
    ),
    *op(
        "max-pool-grad-with-argmax",
        "MaxPoolGradWithArgmax",
        program=_with_index,
        promise=pooling.windowed(LargestGradientAt),
        calls=_by_index(_MOST) | _by_index({"batch": pooling.POOLS["valid"]}, include_batch_in_index=True),
        small=pooling.small(2, "tensor", "result", forward=pooling.windowed(LargestAt)),
        wrong={
            "few-sizes": _unfit(ksize=[1, 2, 1], promise=WHEN_BUILT),
            "few-strides": _unfit(strides=[1, 2, 1], promise=WHEN_BUILT),
            "index-of-the-next-image": _unfit(at=210),
            "negative-index": _unfit(at=-1),
            "negative-size": _unfit(ksize=[1, 2, -2, 1]),
            "negative-stride": _unfit(strides=[1, -1, 3, 1]),
            "no-size": _unfit(ksize=[1, 2, 0, 1]),
            "no-stride": _unfit(strides=[1, 0, 3, 1]),
            "other-upstream": _unfit(((2, 5, 7, 3), (2, 2, 1, 3))),
            "too-flat": _unfit(((5, 7, 3), (2, 2, 3)), WHEN_BUILT),
            "too-large": _unfit(ksize=[1, 9, 3, 1]),
        },
        gradient=False,
        modes=WITHOUT_XLA,
        **_SHARED,
        **_INTEGERS,
        ordinary=ordinary.OF_LARGEST,
    ),
)
