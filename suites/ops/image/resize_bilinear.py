"""ResizeBilinear: images in another size, in which each pixel is a mean of four; and the op of its gradient."""

from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.calls import call, unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL, WRONG_OR_UNSUPPORTED
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import in_float32, plain, positive, small_integers
from tf_opdiff.suites.reference.images.resize import Bilinear
from tf_opdiff.suites.reference.promises.promise import GradientOf

_ALIGNED, _CENTRED = {"align_corners": True}, {"half_pixel_centers": True}
#: Label → the shape of images, their new size, and how pixels lie.
_SIZES = {
    "up": ((2, 3, 4, 3), (5, 7), {}),
    "up_aligned": ((1, 3, 4, 2), (5, 7), _ALIGNED),
    "up_centred": ((1, 3, 4, 2), (5, 7), _CENTRED),
    "down": ((1, 7, 5, 2), (3, 2), {}),
    "down_aligned": ((2, 7, 5, 1), (3, 2), _ALIGNED),
    "down_centred": ((1, 7, 5, 2), (3, 2), _CENTRED),
    "doubled_aligned": ((1, 3, 5, 1), (9, 17), _ALIGNED),
    "same": ((1, 3, 2, 2), (3, 2), _CENTRED),
    "to_one": ((1, 4, 3, 2), (1, 1), {}),
    "to_one_aligned": ((1, 4, 3, 2), (1, 1), _ALIGNED),
    "to_one_centred": ((1, 4, 3, 2), (1, 1), _CENTRED),
    "from_one": ((1, 1, 1, 2), (3, 2), {}),
    "from_one_aligned": ((1, 1, 3, 2), (3, 2), _ALIGNED),
    "from_one_centred": ((1, 1, 1, 2), (3, 2), _CENTRED),
}
_EXACT = {
    "up": ((1, 2, 3, 2), (4, 6), {}),
    "up_aligned": ((1, 2, 3, 2), (5, 5), _ALIGNED),
    "down_centred": ((1, 4, 6, 2), (2, 3), _CENTRED),
}
_SMALL = {"no_images": (0, 3, 4, 2), "pixel": (1, 1, 1, 1)}
_PLAIN, _TWO = (1, 3, 4, 2), (5, 2)
_BOTH = {**_ALIGNED, **_CENTRED}
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16")


def _of_sizes(sizes):
    """The calls of these sizes."""
    return {label: call(shape, size=size, **centers) for label, (shape, size, centers) in sizes.items()}


def _gradients(sizes):
    """The calls of the gradient that belong to these calls."""
    return {
        label: call((shape[0], *size, shape[3]), shape, size=size, **centers)
        for label, (shape, size, centers) in sizes.items()
    }


def _as_bits(spec):
    """A spec. One of XLA alone knows that XLA returns unaligned gradients of float32 as the bits of another dtype."""

    def results(*xs, dtype):
        each = (np.asarray(y, np.float32) for y in spec.reference(*xs))
        return tuple(y.ravel().view(dtype)[: y.size].reshape(y.shape) for y in each)

    return replace(spec, mistaken={"output": results}) if spec.modes == ("xla",) else spec


#: Numbers of both signs times weights between 0 and 1.
_CANCELS = Loose(
    reason="a pixel, and its gradient, is a sum of products with weights of float32, and numbers of both signs cancel",
)
_IN_FLOAT32 = Loose(
    reason="the weights of pixels are computed in float32, and so are their products with upstreams", dtype="float32"
)
_LOOSE = {"output": _CANCELS, "grad": _CANCELS}
_RECIPES = {"plain": plain, "exact": small_integers}
_OF_GRADIENT = {
    "plain": (in_float32(plain), plain),
    "exact": (in_float32(small_integers), plain),
    "positive": (in_float32(positive), plain),
}


def _not_finite(draw, dtype, *shape):
    """Small integers, with an infinity in the first pixel, one of the other sign in the last, and a NaN."""
    x = small_integers(draw, dtype, *shape)
    x[0, 0, 0, 0], x[0, -1, -1, 0], x[0, 0, 1, 1] = np.inf, -np.inf, np.nan
    return x


_SHORT = ("float16", "bfloat16")
_OF_SHORT: dict[str, Any] = {"dtypes": tiered(_SHORT, ()), "modes": WITHOUT_XLA}
_OF_FLOAT64: dict[str, Any] = {"dtypes": tiered(("float64",), ()), "modes": WITHOUT_XLA}
#: Unless corners are aligned, XLA returns the memory of a gradient in float32 as the bits of other dtypes. Whether they
#: are NaN depends on roundings, and in float64 the bits lie beyond the end of the memory: no promise can be kept or
#: broken reliably. One spec shows the failure, with gradients that are exact; all others leave it out.
_OF_XLA: dict[str, Any] = {"modes": ("xla",), "gradient": False}

SPECS = (
    *op(
        "resize-bilinear",
        "ResizeBilinear",
        also("-float64", calls=_of_sizes(_SIZES), loose=_LOOSE | {"grad": _IN_FLOAT32}, **_OF_FLOAT64),
        also(
            "-integer",
            calls=_of_sizes(_SIZES),
            recipes={"plain": plain},
            gradient=False,
            dtypes=tiered(_INTEGERS, ()),
            loose={"output": _CANCELS},
        ),
        also("-of-xla", calls=_of_sizes(_SIZES), dtypes=tiered((*_SHORT, "float64"), ()), **_OF_XLA),
        also("-short", calls=_of_sizes(_SIZES), second=("plain",), **_OF_SHORT),
        also("-special", calls=_of_sizes(_EXACT), recipes={"special": _not_finite}, gradient=False),
        program=lambda tf, x, size, **centers: tf.raw_ops.ResizeBilinear(images=x, size=tf.constant(size), **centers),
        promise=Bilinear,
        calls=_of_sizes({**_SIZES, **{f"exact_{label}": one for label, one in _EXACT.items()}}),
        recipes=_RECIPES,
        second=("plain",),
        small={label: call(shape, size=_TWO) for label, shape in _SMALL.items()},
        wrong={
            "few-sizes": unfit(_PLAIN, size=[5]),
            "many-sizes": unfit(_PLAIN, size=[5, 2, 2]),
            "matrix": unfit(_PLAIN, size=[[5, 2]]),
            "no-size": unfit(_PLAIN, promise=IN_KERNEL, size=[0, 2]),
            "negative-size": unfit(_PLAIN, promise=IN_KERNEL, size=[5, -1]),
            "too-flat": unfit(_PLAIN[1:], size=_TWO),
            "no-rows": unfit((1, 0, 4, 2), promise=IN_KERNEL, size=_TWO),
            "no-channels": unfit((1, 3, 4, 0), promise=IN_KERNEL, size=_TWO),
            "both": unfit(_PLAIN, promise=WRONG_OR_UNSUPPORTED, size=_TWO, **_BOTH),
        },
        loose=_LOOSE,
        ordinary=ordinary.WEIGHTS,
    ),
    *op(
        "resize-bilinear-grad",
        "ResizeBilinearGrad",
        also(
            "-aligned-of-xla",
            calls=_gradients({label: one for label, one in _SIZES.items() if one[2] is _ALIGNED}),
            dtypes=tiered(_SHORT, ()),
            **_OF_XLA,
        ),
        also("-float64", loose=_LOOSE | {"output": _IN_FLOAT32}, **_OF_FLOAT64),
        also(
            "-not-aligned-of-xla",
            calls=_gradients({label: one for label, one in _EXACT.items() if one[2] is not _ALIGNED}),
            recipes={"exact": _OF_GRADIENT["exact"]},
            dtypes=_SHORT,
            **_OF_XLA,
        ),
        also("-short", **_OF_SHORT),
        program=lambda tf, g, x, size=(), **centers: tf.raw_ops.ResizeBilinearGrad(
            grads=g, original_image=x, **centers
        ),
        promise=lambda **attrs: GradientOf(Bilinear(**attrs)),
        calls=_gradients(_SIZES),
        recipes=_OF_GRADIENT,
        small={label: _gradients({"": (shape, _TWO, {})})[""] for label, shape in _SMALL.items()},
        of_small=_OF_GRADIENT["positive"],
        wrong={
            "too-flat": unfit((5, 2, 2), _PLAIN, promise=IN_KERNEL),
            "flat-images": unfit((1, 5, 2, 2), _PLAIN[1:], promise=IN_KERNEL),
            "both": unfit((1, 5, 2, 2), _PLAIN, promise=WRONG_OR_UNSUPPORTED, **_BOTH),
        },
        changed=_as_bits,
        gradient=False,
        loose=_LOOSE,
        ordinary=ordinary.WEIGHTS,
    ),
)
