"""Largest elements of windows. The first of equal ones has the gradient."""

from dataclasses import replace
from functools import partial
from typing import Any

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.suites.forms.aspects import drawn, second_order
from tf_opdiff.suites.forms.aspects import small as small_part
from tf_opdiff.suites.forms.calls import Wrong
from tf_opdiff.suites.forms.elements import infinite, limits, not_numbers, plain, small_integers, ties, tiny
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered, together
from tf_opdiff.suites.forms.pooling import (
    CHANNELS_FIRST,
    CUBES,
    CUBES_CHANNELS_FIRST,
    DEEP,
    EXPLICIT,
    POOLS,
    bad_attributes,
    of_tensor,
    refused,
    small,
)
from tf_opdiff.suites.reference.pooling import Largest, LargestAt

_REST = tuple(dtype for dtype in FLOATS if dtype != "float32")
_ORDERED = {"plain": (plain,), "ties": (ties,), "infinite": (infinite,), "upstreams": (plain,)}
#: Inputs at which no element of a window has the gradient, or another one on processors that flush subnormals.
_FORWARD = {"special": (not_numbers,), "tiny": (tiny,)}
_FEW = {"plain": (plain,), "ties": (ties,)}
_WHOLE = ("int32", "int64", "int16", "int8", "uint8", "uint16")
#: XLA has no kernel of MaxPoolWithArgmax, and none of explicit padding.
_WITHOUT_XLA: dict[str, Any] = {"modes": WITHOUT_XLA}
_OF_WHOLE = {"plain": (plain,), "limits": (limits,)}


def _largest(name, raw, pools, rest, integers=()):
    """The specs of largest elements. Tensors without elements have gradients in specs of their own."""
    rank, calls = len(pools["valid"].size), partial(of_tensor, raw, "input", Largest)
    empty = small(rank)
    return (
        *op(
            name,
            raw,
            _second_order(rest),
            small_part(drawn({label: calls(one) for label, one in empty.items()}, small_integers), gradient=False),
            calls=calls(pools),
            recipes=_ORDERED,
            batch=calls(pools),
            forward=_FORWARD,
            wrong=refused(calls, rank, bad_attributes(rank)),
            dtypes=tiered(("float32", *rest)),
            integers=tiered(integers),
            of_integers=_OF_WHOLE,
        ),
        *op(
            f"{name}-no-images", raw, calls=calls(empty["no_images"]), recipes={"plain": plain}, constant=("output[0]",)
        ),
    )


def _second_order(rest):
    """Second order; in other dtypes without XLA, which has MaxPoolGradGrad of float32 alone."""
    return together(
        second_order({"plain": plain}, dtypes=("float32",), tier="full"),
        second_order({"plain": plain}, suffix="-second-order-other", dtypes=rest, tier="full", **_WITHOUT_XLA),
    )


def _of(i, pools, **attrs):
    """Calls of MaxPoolWithArgmax: of its output i."""
    promise = partial(LargestAt, batch=attrs.get("include_batch_in_index", False)) if i else Largest
    calls = of_tensor("MaxPoolWithArgmax", "input", promise, pools, **attrs)
    return {f"{label}_{i}": replace(call, program=partial(_output, i, call.program)) for label, call in calls.items()}


def _argmax(attrs, tf, x):
    return tf.raw_ops.MaxPoolWithArgmax(input=x, **attrs)


def _output(i, call, tf, x):
    return call(tf, x)[i]


_MOST = {label: POOLS[label] for label in ("valid", "same", "gaps", "larger")}
_BATCH = {"batch": POOLS["valid"]}
_EMPTY = {label: pools for label, pools in small(2).items() if label not in ("one", "one_row")}
SPECS = (
    *_largest("max-pool", "MaxPool", POOLS, _REST, _WHOLE),
    *_largest("max-pool-3d", "MaxPool3D", CUBES, ("bfloat16",)),
    *op(
        "max-pool-3d-channels-first",
        "MaxPool3D",
        calls=of_tensor("MaxPool3D", "input", Largest, CUBES_CHANNELS_FIRST),
        recipes={"plain": (plain,)},
    ),
    *op(
        "max-pool-channels-first",
        "MaxPool",
        calls=of_tensor("MaxPool", "input", Largest, CHANNELS_FIRST),
        recipes=_FEW,
    ),
    *op(
        "max-pool-depth",
        "MaxPool",
        calls=of_tensor("MaxPool", "input", Largest, DEEP),
        recipes=_FEW,
        gradient=False,
    ),
    *op(
        "max-pool-explicit",
        "MaxPool",
        calls=of_tensor("MaxPool", "input", Largest, EXPLICIT),
        recipes=_FEW,
        dtypes=tiered(FLOATS),
        fields=_WITHOUT_XLA,
    ),
    *_largest("max-pool-v2", "MaxPoolV2", POOLS, _REST, _WHOLE),
    *op(
        "max-pool-with-argmax",
        "MaxPoolWithArgmax",
        calls=_of(0, _MOST) | _of(1, _MOST) | _of(1, _BATCH, include_batch_in_index=True),
        recipes=_ORDERED,
        forward={"special": (not_numbers,)},
        dtypes=tiered(FLOATS),
        second=("plain",),
        fields=_WITHOUT_XLA,
        small={label: _of(0, small(2)[label]) for label in ("one", "one_row")},
        wrong={"empty": Wrong(partial(_output, 0, partial(_argmax, POOLS["valid"].attrs)), ((0, 5, 7, 3),), IN_KERNEL)},
    ),
)
