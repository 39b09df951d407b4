"""Largest elements of windows. The first of equal ones has the gradient."""

from dataclasses import replace

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.aspects import drawn
from tf_opdiff.suites.forms.aspects import small as small_part
from tf_opdiff.suites.forms.calls import unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.neural_networks import pooling
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import calling, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import infinite, limits, not_numbers, plain, small_integers, ties, tiny
from tf_opdiff.suites.reference.neural_networks.largest import Largest, LargestAt

_ORDERED = {"plain": plain, "ties": ties, "infinite": infinite, "upstreams": plain}
_FEW = {"plain": plain, "ties": ties}
_INTEGERS = {"dtypes": tiered(FLOATS), "integers": tiered(("int32", "int64", "int16", "int8", "uint8", "uint16"))}
#: XLA has no kernel of explicit padding.
_LAYOUTS = (
    also("-channels-first", calls=pooling.pooled(pooling.CHANNELS_FIRST, "tensor"), recipes=_FEW, dtypes=("float32",)),
    also("-depth", calls=pooling.pooled(pooling.DEEP, "tensor"), recipes=_FEW, gradient=False, dtypes=("float32",)),
    also("-explicit", calls=pooling.pooled(pooling.EXPLICIT, "tensor"), recipes=_FEW, modes=WITHOUT_XLA),
)


def _largest(pools):
    """The fields of largest elements."""
    rank = len(pools["valid"].size)
    calls = pooling.pooled(pools, "tensor")
    return {
        "arguments": ("input",),
        "promise": pooling.windowed(Largest),
        "calls": calls,
        "recipes": _ORDERED,
        "second": ("plain",),
        "batch": calls,
        # No element of a window has the gradient, or another one on processors that flush subnormals.
        "forward": {"special": not_numbers, "tiny": tiny},
        "wrong": pooling.refused(rank, pooling.bad_attributes(rank), "tensor"),
        "of_integers": {"plain": plain, "limits": limits},
        "changed": pooling.in_float32_alone,
    }


def _few(rank):
    """Parts: tensors without elements, or with one; without elements, gradients are apart."""
    empty = pooling.small(rank, "tensor")
    no_images = {"calls": empty["no_images"], "recipes": {"plain": plain}, "constant": ("output[0]",)}
    of_small = small_part(drawn(empty, small_integers), gradient=False)
    return of_small, also("-no-images", dtypes=("float32",), **no_images)


def _of(output, pools, **attributes):
    """Calls of an output of MaxPoolWithArgmax."""
    program, promise = calling("MaxPoolWithArgmax", ("input",), output), pooling.windowed((Largest, LargestAt)[output])
    return {
        f"{label}_{output}": replace(one, program=program, promise=promise)
        for label, one in pooling.pooled(pools, "tensor", **attributes).items()
    }


def _single(label):
    """The calls of the first output with a tensor without images, or with one pixel."""
    return {f"{name}_0": one for name, one in pooling.small(2, "tensor")[label].items()}


_MOST = {label: pooling.POOLS[label] for label in ("valid", "same", "gaps", "larger")}
SPECS = (
    *op(
        "max-pool",
        "MaxPool",
        *_few(2),
        *_LAYOUTS,
        **_INTEGERS,
        **_largest(pooling.POOLS),
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "max-pool-3d",
        "MaxPool3D",
        *_few(3),
        also(
            "-channels-first",
            calls=pooling.pooled(pooling.CUBES_CHANNELS_FIRST, "tensor"),
            recipes={"plain": plain},
            dtypes=("float32",),
        ),
        dtypes=tiered(("float32", "bfloat16")),
        **_largest(pooling.CUBES),
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "max-pool-v2",
        "MaxPoolV2",
        *_few(2),
        also(
            "-channels-first",
            calls=pooling.pooled(pooling.CHANNELS_FIRST, "tensor"),
            recipes=_FEW,
            **pooling.REFUSED_ON_CPU,
        ),
        **_INTEGERS,
        **_largest(pooling.POOLS),
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "max-pool-with-argmax",
        "MaxPoolWithArgmax",
        program=calling("MaxPoolWithArgmax", ("input",), 0),
        promise=pooling.windowed(Largest),
        calls=_of(0, _MOST) | _of(1, _MOST) | _of(1, {"batch": pooling.POOLS["valid"]}, include_batch_in_index=True),
        recipes=_ORDERED,
        second=("plain",),
        forward={"special": not_numbers},
        small={label: _single(label) for label in ("one", "one_row")},
        wrong={"empty": unfit((0, 5, 7, 3), promise=IN_KERNEL, **pooling.POOLS["valid"].attrs)},
        dtypes=tiered(FLOATS),
        integers=dict.fromkeys(INTEGERS, "full"),
        of_integers={"plain": plain, "limits": limits},
        modes=WITHOUT_XLA,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
)
