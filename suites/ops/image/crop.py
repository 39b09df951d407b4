"""CropAndResize: boxes cut out of images, in another size."""

import numpy as np

from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.crops import (
    CROPS,
    EXACT_CROPS,
    FIELDS,
    IMAGE,
    INTEGERS,
    NEAREST,
    PAIR,
    REST,
    TWO,
    boxes,
    crop_of,
    exact_boxes,
    image_of_each,
    inner_boxes,
    small,
)
from tf_opdiff.suites.forms.elements import plain, positive, small_integers
from tf_opdiff.suites.forms.errors import IN_KERNEL, OUT_OF_RANGE
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered

#: Sizes for which the last place of the whole image, in float32, is beyond the image.
_BORDER = {
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


def _crop(size, **attrs):
    return lambda tf, x, boxes, index: tf.raw_ops.CropAndResize(
        image=x, boxes=boxes, box_ind=index, crop_size=tf.constant(size), **attrs
    )


def _calls(sizes):
    """The calls of these sizes."""
    return {
        label: Call(_crop(size, **attrs), crop_of(size, **attrs), (shape, (count, 4)), computed=(image_of_each,))
        for label, (shape, count, size, attrs) in sizes.items()
    }


def _wrong(*index, size=TWO):
    """A call with these images of boxes, which may be wrong."""
    return lambda tf, x, boxes: tf.raw_ops.CropAndResize(
        image=x, boxes=boxes, box_ind=tf.constant(index, "int32"), crop_size=tf.constant(size)
    )


def _not_finite(value):
    """A call with a corner that is no finite number."""
    return lambda tf, x, boxes: tf.raw_ops.CropAndResize(
        image=x, boxes=boxes * value, box_ind=tf.constant([0, 0]), crop_size=tf.constant(TWO)
    )


_REFUSED = {
    "too-flat": Wrong(_wrong(0, 0), (IMAGE[1:], PAIR)),
    "flat-boxes": Wrong(_wrong(0, 0), (IMAGE, (4,))),
    "five-corners": Wrong(_wrong(0, 0), (IMAGE, (2, 5))),
    "few-images-of-boxes": Wrong(_wrong(0), (IMAGE, PAIR)),
    "long-size": Wrong(_wrong(0, 0, size=(3, 2, 2)), (IMAGE, PAIR)),
    "no-size": Wrong(_wrong(0, 0, size=(0, 2)), (IMAGE, PAIR), IN_KERNEL),
    "negative-size": Wrong(_wrong(0, 0, size=(3, -1)), (IMAGE, PAIR), IN_KERNEL),
    "no-rows": Wrong(_wrong(0, 0), ((1, 0, 4, 2), PAIR), IN_KERNEL),
    "image-too-high": Wrong(_wrong(0, 1), (IMAGE, PAIR), OUT_OF_RANGE),
    "image-below-zero": Wrong(_wrong(0, -1), (IMAGE, PAIR), OUT_OF_RANGE),
    "infinite-box": Wrong(_not_finite(np.inf), (IMAGE, PAIR), IN_KERNEL),
    "nan-box": Wrong(_not_finite(np.nan), (IMAGE, PAIR), IN_KERNEL),
}

SPECS = (
    *op(
        "crop-and-resize",
        "CropAndResize",
        calls=_calls(CROPS),
        recipes={"plain": (plain, boxes), "positive": (positive, inner_boxes)},
        small=small(_calls),
        of_small=(small_integers, inner_boxes),
        wrong=_REFUSED,
        dtypes=tiered(("float32", *REST)),
        fields=FIELDS,
    ),
    *op(
        "crop-and-resize-alone",
        "CropAndResize",
        calls=_calls({"up": CROPS["up"]}),
        recipes={"plain": (plain, boxes)},
        second=("plain",),
        dtypes=tiered(("float32", *REST)),
        fields=FIELDS,
    ),
    *op(
        "crop-and-resize-border",
        "CropAndResize",
        calls=_calls(_BORDER),
        recipes={"positive": (positive, _whole)},
        gradient=False,
        fields=FIELDS,
    ),
    *op(
        "crop-and-resize-exact",
        "CropAndResize",
        calls=_calls(EXACT_CROPS),
        recipes={"exact": (small_integers, exact_boxes)},
        dtypes=tiered(("float32", *REST)),
        gradient=False,
        fields=FIELDS,
    ),
    *op(
        "crop-and-resize-far",
        "CropAndResize",
        calls=_calls(_CORNERS),
        recipes={"positive": (positive, _far)},
        gradient=False,
        fields=FIELDS,
    ),
    *op(
        "crop-and-resize-integer",
        "CropAndResize",
        calls=_calls(CROPS),
        recipes={"plain": (plain, boxes)},
        gradient=False,
        fields={**FIELDS, "dtypes": INTEGERS, "tier": "full"},
    ),
)
