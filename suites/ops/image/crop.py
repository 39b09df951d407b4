"""CropAndResize: boxes cut out of images, in another size."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.calls import Wrong, unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL, OUT_OF_RANGE
from tf_opdiff.suites.forms.images.crops import (
    CROPS,
    EXACT_CROPS,
    FIELDS,
    IMAGE,
    INTEGERS,
    NEAREST,
    PAIR,
    TWO,
    boxes,
    crops,
    exact_boxes,
    inner_boxes,
    small,
)
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import plain, positive, small_integers
from tf_opdiff.suites.reference.images.crop import Crop

#: Sizes for which the last place of the whole image, in float32, is beyond the image.
_BORDER: dict[str, Any] = {
    "rows": ((1, 4, 3, 1), 1, (22, 1), {}),
    "columns": ((1, 3, 8, 1), 1, (1, 14), {}),
    "nearest": ((1, 4, 3, 1), 1, (22, 1), NEAREST),
}
#: Sizes that keep the corners of boxes.
_CORNERS = {"far": ((1, 3, 4, 2), 2, (2, 2), {}), "nearest": ((1, 3, 4, 2), 2, (2, 2), NEAREST)}


def _far(draw, dtype, *shape):
    """Boxes whose corners are finite numbers of float32, and whose height and width are not."""
    return np.broadcast_to(np.array([-2e38, -2e38, 2e38, 2e38], "float32"), shape)


def _whole(draw, dtype, *shape):
    """Boxes of the whole image."""
    return np.broadcast_to(np.array([0, 0, 1, 1], "float32"), shape)


def _beyond(*xs):
    """The crops of `-border` whose last row or column the kernel takes for outside, by its formula in float32."""
    results = []
    for i, ((_, *image, _), _, size, attrs) in enumerate(_BORDER.values()):
        crop = Crop(crop_size=size, **attrs).f(*xs[3 * i : 3 * i + 3])
        for axis, (n, count) in enumerate(zip(image, size, strict=True), 1):
            last = np.float32(count - 1)
            if count > 1 and last * (np.float32(n - 1) / last) > n - 1:
                crop.swapaxes(0, axis)[-1] = 0
        results.append(crop)
    return tuple(results)


def _crop(tf, x, boxes, *index, numbers=(0, 0), crop_size=TWO, **attrs):
    """A call with the images of boxes, or with these numbers of images."""
    images = index[0] if index else tf.constant(numbers, "int32")
    return tf.raw_ops.CropAndResize(image=x, boxes=boxes, box_ind=images, crop_size=tf.constant(crop_size), **attrs)


def _not_finite(value):
    """A call with a corner that is no finite number."""
    return lambda tf, x, boxes: tf.raw_ops.CropAndResize(
        image=x, boxes=boxes * value, box_ind=tf.constant([0, 0]), crop_size=tf.constant(TWO)
    )


_ONCE = {"gradient": False, "dtypes": ("float32",)}
SPECS = op(
    "crop-and-resize",
    "CropAndResize",
    also("-alone", calls=crops({"up": CROPS["up"]}), recipes={"plain": (plain, boxes)}, second=("plain",)),
    also(
        "-border", calls=crops(_BORDER), recipes={"positive": (positive, _whole)}, mistaken={"output": _beyond}, **_ONCE
    ),
    also("-exact", calls=crops(EXACT_CROPS), recipes={"exact": (small_integers, exact_boxes)}, gradient=False),
    also("-far", calls=crops(_CORNERS), recipes={"positive": (positive, _far)}, **_ONCE),
    also("-integer", recipes={"plain": (plain, boxes)}, gradient=False, dtypes=tiered(INTEGERS, ())),
    program=_crop,
    promise=Crop,
    calls=crops(CROPS),
    recipes={"plain": (plain, boxes), "positive": (positive, inner_boxes)},
    small=small(crops),
    of_small=(small_integers, inner_boxes),
    wrong={
        "too-flat": (IMAGE[1:], PAIR),
        "flat-boxes": (IMAGE, (4,)),
        "five-corners": (IMAGE, (2, 5)),
        "few-images-of-boxes": unfit(IMAGE, PAIR, numbers=(0,)),
        "long-size": unfit(IMAGE, PAIR, crop_size=(3, 2, 2)),
        "no-size": unfit(IMAGE, PAIR, promise=IN_KERNEL, crop_size=(0, 2)),
        "negative-size": unfit(IMAGE, PAIR, promise=IN_KERNEL, crop_size=(3, -1)),
        "no-rows": unfit((1, 0, 4, 2), PAIR, promise=IN_KERNEL),
        "image-too-high": unfit(IMAGE, PAIR, promise=OUT_OF_RANGE, numbers=(0, 1)),
        "image-below-zero": unfit(IMAGE, PAIR, promise=OUT_OF_RANGE, numbers=(0, -1)),
        "infinite-box": Wrong(_not_finite(np.inf), (IMAGE, PAIR), IN_KERNEL),
        "nan-box": Wrong(_not_finite(np.nan), (IMAGE, PAIR), IN_KERNEL),
    },
    **FIELDS,
    ordinary=ordinary.WEIGHTS
    | ordinary.boxes(1)
    | {"sum_0": "the gradient by boxes adds up differences, which leave the dtype in an order that nothing documents"},
)
