"""ImageProjectiveTransformV2 and V3: each pixel of a result shows an image at the place to which a matrix maps it."""

from collections.abc import Iterator

import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.calls import Wrong
from tf_opdiff.suites.forms.elements import infinite, limits, plain, positive, small_integers
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.projective import (
    DRAWN,
    EXACT,
    FAR,
    ONCE,
    SEVERAL_TIMES,
    SHARED,
    SMALL,
    V2,
    V3,
    WRAPPED,
    calls,
    moved,
    program,
    transforms,
)

_BOTH = ("NEAREST", "BILINEAR")
_REST, _WITH_GRADIENT = ("float16", "bfloat16", "float64"), ("float16", "float64")
_CANCELS = Loose(
    lambda *inputs, **keywords: True,
    "a pixel, and each gradient, is a sum of products in float32, and numbers of both signs cancel",
)
_FIELDS = {"modes": WITHOUT_XLA, "loose": {"output": _CANCELS, "grad": _CANCELS, "jvp": _CANCELS}}
_OF_INTEGERS = {**IN_KERNEL, "dtypes": ("int32",)}


def _digits(draw, dtype, *shape):
    """Numbers with all digits of the dtype."""
    if dtype.kind == "f":
        return plain(draw, dtype, *shape)
    return np.iinfo(dtype).max - draw.integers(*shape, low=0, high=9).astype(dtype)


def _unknown(raw, interpolation, fill):
    """A call with an attribute that has another meaning, or none. Its result, which can be anything, is set to 0."""
    call = program(raw, (3, 2), interpolation, fill)
    return lambda tf, images, transforms: tf.bitwise.bitwise_and(call(tf, images, tf.cast(transforms, tf.float32)), 0)


def _wrong(raw):
    """The calls that an op refuses."""

    def sized(*size, **value):
        return program(raw, size, "NEAREST", "CONSTANT", **value)

    images, each = (2, 3, 4, 1), ((2, 3, 4, 1), (2, 8))
    return {
        "flat-images": Wrong(sized(3, 2), (images[1:], (2, 8))),
        "flat-transforms": Wrong(sized(3, 2), (images, (8,)), IN_KERNEL),
        "seven-entries": Wrong(sized(3, 2), (images, (2, 7)), IN_KERNEL),
        "three-transforms": Wrong(sized(3, 2), (images, (3, 8)), IN_KERNEL),
        "long-size": Wrong(sized(3, 2, 1), each),
        "flat-size": Wrong(program(raw, 3, "NEAREST", "CONSTANT"), each),
        "no-size": Wrong(sized(0, 2), each, IN_KERNEL),
        "negative-size": Wrong(sized(3, -1), each, IN_KERNEL),
        "unknown-interpolation": Wrong(_unknown(raw, "CUBIC", "CONSTANT"), each, _OF_INTEGERS),
        "unknown-fill": Wrong(_unknown(raw, "NEAREST", "MIRROR"), each, _OF_INTEGERS),
        **({"two-values": Wrong(sized(3, 2, value=[1.0, 2.0]), each, IN_KERNEL)} if raw == V3 else {}),
    }


def _specs(name: str, raw: str) -> Iterator[Spec]:
    """The specs of one version."""
    yield from op(
        name,
        raw,
        calls=calls(raw, {**DRAWN, **SHARED}, *_BOTH),
        recipes={"plain": (plain, transforms), "positive": (positive, transforms)},
        batch=calls(raw, DRAWN, *_BOTH),
        wrong=_wrong(raw),
        dtypes=tiered(("float32", *_REST)),
        gradient=False,
        fields=_FIELDS,
    )
    for interpolation, recipes, whole in (
        ("NEAREST", {"plain": (plain,), "infinite": (infinite,)}, {"plain": (plain,), "limits": (limits,)}),
        ("BILINEAR", {"exact": (small_integers,)}, {"plain": (plain,)}),
    ):
        yield from op(
            f"{name}-{interpolation.lower()}",
            raw,
            calls=calls(raw, EXACT, interpolation),
            recipes=recipes,
            dtypes=tiered(("float32", *_REST)),
            integers=tiered(("int32", "int64", "uint8")),
            of_integers=whole,
            gradient=False,
            fields=_FIELDS,
        )
    yield from op(
        f"{name}-once",
        raw,
        calls=calls(raw, ONCE, *_BOTH),
        recipes={"exact": (small_integers,)},
        second=("exact",),
        small={
            label: calls(raw, {"only": (shape, (3, 2), "CONSTANT", [moved(1, -1)])}, *_BOTH)
            for label, shape in SMALL.items()
        },
        dtypes=tiered(("float32", *_WITH_GRADIENT)),
        fields=_FIELDS,
    )
    yield from _known_to_fail(name, raw)


def _known_to_fail(name: str, raw: str) -> Iterator[Spec]:
    """The specs of promises that TensorFlow breaks."""
    identity, one_pixel, without_rows = ({label: EXACT[label]} for label in ("identity", "one_pixel", "without_rows"))
    wide = {"dtypes": ("float64", "int32", "int64"), "tier": "full"}
    for suffix, table, interpolations, elements, gradient, rest, fields in (
        ("several-times", SEVERAL_TIMES, _BOTH, small_integers, True, _WITH_GRADIENT, {}),
        ("without-inverse", one_pixel, _BOTH, small_integers, True, (), {}),
        ("without-rows", without_rows, _BOTH, small_integers, True, (), {}),
        ("bfloat16", identity, _BOTH, small_integers, True, (), {"dtypes": ("bfloat16",), "tier": "full"}),
        ("wrapped", WRAPPED, _BOTH, small_integers, False, (), {}),
        ("far", FAR, ("BILINEAR",), small_integers, False, (), {}),
        ("digits", identity, ("BILINEAR",), _digits, False, (), wide),
    ):
        yield from op(
            f"{name}-{suffix}",
            raw,
            calls=calls(raw, table, *interpolations),
            recipes={"exact": (elements,)},
            gradient=gradient,
            dtypes=tiered(("float32", *rest)),
            fields={**_FIELDS, **fields},
        )


SPECS = (*_specs("image-projective-transform-v2", V2), *_specs("image-projective-transform-v3", V3))
