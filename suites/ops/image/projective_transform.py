"""ImageProjectiveTransformV2 and V3: each pixel of a result shows an image at the place to which a matrix maps it."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.calls import unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.images.projective import (
    DRAWN,
    EXACT,
    FAR,
    ONCE,
    SEVERAL_TIMES,
    SHARED,
    SMALL,
    WRAPPED,
    calls,
    moved,
    program,
    transforms,
)
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import infinite, limits, plain, positive, small_integers
from tf_opdiff.suites.reference.images.warp import Warp

_BOTH = ("NEAREST", "BILINEAR")
_WITH_GRADIENT = tiered(("float32", "float16", "float64"))
_CANCELS = Loose(
    reason="a pixel, and each gradient, is a sum of products in float32, and numbers of both signs cancel",
    dtype="float32",
)


def _digits(draw, dtype, *shape):
    """Numbers with all digits of the dtype."""
    if dtype.kind == "f":
        return plain(draw, dtype, *shape)
    return np.iinfo(dtype).max - draw.integers(*shape, low=0, high=9).astype(dtype)


def _wrong(run, **value):
    """The calls that an op refuses."""

    def unknown(tf, images, transforms, **attrs):
        """A call with an attribute that has another meaning, or none. Its result, which can be anything, is 0."""
        result = run(tf, images, tf.cast(transforms, tf.float32), **attrs)
        return tf.bitwise.bitwise_and(result, 0)

    images, each = (2, 3, 4, 1), ((2, 3, 4, 1), (2, 8))

    def no(*shapes, promise=IN_KERNEL, **changed):
        plain = {"output_shape": (3, 2), "interpolation": "NEAREST", "fill_mode": "CONSTANT"}
        return unfit(*(shapes or each), promise=promise, **{**plain, **value, **changed})

    of_integers = {**IN_KERNEL, "dtypes": ("int32",)}
    return {
        "flat-images": no(images[1:], (2, 8), promise=WHEN_BUILT),
        "flat-transforms": no(images, (8,)),
        "seven-entries": no(images, (2, 7)),
        "three-transforms": no(images, (3, 8)),
        "long-size": no(promise=WHEN_BUILT, output_shape=(3, 2, 1)),
        "flat-size": no(promise=WHEN_BUILT, output_shape=3),
        "no-size": no(output_shape=(0, 2)),
        "negative-size": no(output_shape=(3, -1)),
        "unknown-interpolation": no(promise=of_integers, interpolation="CUBIC")._replace(call=unknown),
        "unknown-fill": no(promise=of_integers, fill_mode="MIRROR")._replace(call=unknown),
        **({"two-values": no(fill_value=[1.0, 2.0])} if value else {}),
    }


def _exact(interpolation, recipes, whole, **value):
    """A part: transforms with exact places, and one interpolation."""
    return also(
        f"-{interpolation.lower()}",
        calls=calls(EXACT, interpolation, **value),
        recipes=recipes,
        integers=tiered(("int32", "int64", "uint8")),
        of_integers=whole,
    )


def _parts(**value):
    """The parts of a version, which may have a fill value; the last ones are promises that TensorFlow breaks."""
    identity, one_pixel, without_rows = ({label: EXACT[label]} for label in ("identity", "one_pixel", "without_rows"))
    single, exact = ("float32",), {"recipes": {"exact": small_integers}}
    wide = tiered(("float64", "int32", "int64"), ())

    def smooth(suffix, table, dtypes, **more):
        return also(suffix, calls=calls(table, *_BOTH, **value), gradient=True, dtypes=dtypes, **exact, **more)

    one = (3, 2), "CONSTANT", [moved(1, -1)]
    small = {label: calls({"only": (shape, *one)}, *_BOTH, **value) for label, shape in SMALL.items()}
    whole = {"plain": plain, "limits": limits}
    return (
        _exact("NEAREST", {"plain": plain, "infinite": infinite}, whole, **value),
        _exact("BILINEAR", {"exact": small_integers}, {"plain": plain}, **value),
        smooth("-once", ONCE, _WITH_GRADIENT, second=("exact",), small=small),
        smooth("-several-times", SEVERAL_TIMES, _WITH_GRADIENT),
        smooth("-without-inverse", one_pixel, single),
        smooth("-without-rows", without_rows, single),
        smooth("-bfloat16", identity, tiered(("bfloat16",), ())),
        also("-wrapped", calls=calls(WRAPPED, *_BOTH, **value), dtypes=single, **exact),
        also("-far", calls=calls(FAR, "BILINEAR", **value), dtypes=single, **exact),
        also("-digits", calls=calls(identity, "BILINEAR", **value), recipes={"exact": _digits}, dtypes=wide),
    )


def _version(raw, **value):
    """The fields of a version, which may have a fill value."""
    run = program(raw)
    return {
        "raw": raw,
        "program": run,
        "promise": Warp,
        "calls": calls({**DRAWN, **SHARED}, *_BOTH, **value),
        "recipes": {"plain": (plain, transforms), "positive": (positive, transforms)},
        "batch": calls(DRAWN, *_BOTH, **value),
        "wrong": _wrong(run, **value),
        "dtypes": tiered(("float32", "float16", "bfloat16", "float64")),
        "gradient": False,
        "modes": WITHOUT_XLA,
        "loose": dict.fromkeys(("output", "grad", "jvp"), _CANCELS),
        "parts": _parts(**value),
    }


SPECS = (
    *op(
        "image-projective-transform-v2",
        **_version("ImageProjectiveTransformV2"),
        ordinary=ordinary.WEIGHTS | ordinary.TRANSFORMS,
    ),
    *op(
        "image-projective-transform-v3",
        **_version("ImageProjectiveTransformV3", fill_value=3.0),
        ordinary=ordinary.WEIGHTS | ordinary.TRANSFORMS,
    ),
)
