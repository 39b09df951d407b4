"""The gradients of largest elements as ops of their own, and the gradients of these."""

from dataclasses import replace
from typing import Any

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.suites.forms.calls import unfit
from tf_opdiff.suites.forms.elements import infinite, limits, plain, small_integers, ties, tiny
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT, WRONG_OR_UNSUPPORTED
from tf_opdiff.suites.forms.lists import no_gradient_kernel
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.pooling import (
    CHANNELS_FIRST,
    CUBES,
    CUBES_CHANNELS_FIRST,
    EXPLICIT,
    POOLS,
    bad_attributes,
    in_float32_alone,
    pooled,
    refused,
    small,
    windowed,
)
from tf_opdiff.suites.reference.largest import Largest, LargestAt, LargestGradient, LargestGradientAt, LargestSecond

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
    return pooled(pools, "tensor", "result", forward=windowed(Largest))


def _gradient(name, raw, pools, promises, *parts, kind=LargestGradient, upstream="result", **fields):
    """The specs of a gradient of largest elements. Some faults have other promises than those of pooling."""
    rank = len(pools["valid"].size)
    shapes, forward = ("tensor", upstream), windowed(Largest)
    return op(
        name,
        raw,
        *parts,
        arguments=_ARGUMENTS,
        promise=windowed(kind),
        calls=pooled(pools, *shapes, forward=forward),
        small=small(rank, *shapes, forward=forward),
        wrong=refused(rank, bad_attributes(rank, **promises), *shapes, "result"),
        **_SHARED,
        **fields,
    )


def _differentiated(*arguments, **fields):
    """The specs of a gradient that has a gradient."""
    for spec in in_float32_alone(_gradient(*arguments, second=_SECOND, **fields)):
        if spec.derivatives.vjp and not spec.derivatives.hvp and "float32" not in spec.dtypes:
            (side,) = no_gradient_kernel("MaxPoolGradGrad in this dtype", spec.reference).values()
            yield replace(spec, contract={"*/xla": replace(side, alternatives=spec.tolerance.alternatives)})
        else:
            yield spec


def _second(name, raw, pools, **fields):
    """The specs of the gradient of a gradient."""
    return _gradient(name, raw, pools, _EARLY, kind=LargestSecond, upstream="tensor", **fields)


def _with_index(tf, x, g, *argmax, at=0, **attrs):
    """The gradient; without indices, every window has the same one."""
    indices = argmax[0] if argmax else tf.fill(tf.shape(g), tf.constant(at, tf.int64))
    return tf.raw_ops.MaxPoolGradWithArgmax(input=x, grad=g, argmax=indices, **attrs)


def _by_index(pools, **attributes):
    """The calls of the gradient by the indices of the largest elements."""
    return pooled(pools, "tensor", "result", forward=windowed(LargestAt), **attributes)


def _unfit(shapes=((2, 5, 7, 3), (2, 2, 2, 3)), promise=IN_KERNEL, **attributes):
    return unfit(*shapes, promise=promise, **POOLS["valid"].attrs | attributes)


_MOST = {label: POOLS[label] for label in ("valid", "same", "gaps", "larger")}
_INTEGERS: dict[str, Any] = {"dtypes": tiered(FLOATS), "integers": tiered(_WHOLE)}
SPECS = (
    *_differentiated(
        "max-pool-3d-grad",
        "MaxPool3DGrad",
        CUBES,
        _LATE_3D,
        also("-channels-first", calls=_first(CUBES_CHANNELS_FIRST), recipes=_FEW, dtypes=("float32",)),
        also("-of-xla", recipes=_FEW, gradient=False, modes=("xla",), dtypes=tiered(("float16",), ())),
        dtypes=tiered(("float32", "bfloat16")),
    ),
    *_second(
        "max-pool-3d-grad-grad", "MaxPool3DGradGrad", CUBES, dtypes=tiered(("float32", "bfloat16")), second=_SECOND
    ),
    *_differentiated(
        "max-pool-grad",
        "MaxPoolGrad",
        POOLS,
        _LATE,
        also("-channels-first", calls=_first(CHANNELS_FIRST), recipes=_FEW, dtypes=("float32",)),
        also("-explicit", calls=_first(EXPLICIT), recipes=_FEW, gradient=False, modes=WITHOUT_XLA),
        **_INTEGERS,
    ),
    *_second("max-pool-grad-grad", "MaxPoolGradGrad", POOLS, second=_SECOND, **_INTEGERS),
    *_second("max-pool-grad-grad-v2", "MaxPoolGradGradV2", POOLS, gradient=False, **_INTEGERS),
    *_differentiated("max-pool-grad-v2", "MaxPoolGradV2", POOLS, _LATE_V2, **_INTEGERS),
    *op(
        "max-pool-grad-with-argmax",
        "MaxPoolGradWithArgmax",
        program=_with_index,
        promise=windowed(LargestGradientAt),
        calls=_by_index(_MOST) | _by_index({"batch": POOLS["valid"]}, include_batch_in_index=True),
        small=small(2, "tensor", "result", forward=windowed(LargestAt)),
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
    ),
)
