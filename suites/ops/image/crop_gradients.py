"""The gradients of CropAndResize, as ops: by images and by boxes."""

import numpy as np

from tf_opdiff.suites.forms.calls import Wrong
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.images.crops import (
    CROPS,
    EXACT_CROPS,
    FIELDS,
    IMAGE,
    INTEGERS,
    PAIR,
    TWO,
    boxes,
    exact_boxes,
    gradients,
    inner_boxes,
    small,
)
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import in_float32, plain, positive, small_integers
from tf_opdiff.suites.reference.images.crop import CropGradBoxes, CropGradImage

_SIGNS = "a sum of differences of pixels leaves the dtype in an order that nothing documents"


def _by_image(tf, g, x, boxes, index, *, crop_size=(), extrapolation_value=0.0, **method):
    """A call; the attributes of crops that no gradient takes are those of its promise."""
    return tf.raw_ops.CropAndResizeGradImage(
        grads=g, boxes=boxes, box_ind=index, image_size=tf.shape(x), T=x.dtype, **method
    )


def _by_boxes(tf, g, x, boxes, index, *, crop_size=(), extrapolation_value=0.0, **method):
    return tf.raw_ops.CropAndResizeGradBoxes(grads=g, image=x, boxes=boxes, box_ind=index, **method)


def _refused(program):
    """Calls that a gradient refuses: a box with a corner that is no number."""

    def nan_box(tf, g, x, boxes):
        return program(tf, g, x, boxes * np.nan, tf.constant([0, 0]))

    return {"nan-box": Wrong(nan_box, ((2, *TWO, 2), IMAGE, PAIR), IN_KERNEL)}


_SHARED = {
    **FIELDS,
    "recipes": {
        "plain": (in_float32(plain), plain, boxes),
        "positive": (in_float32(positive), positive, inner_boxes),
    },
    "small": small(gradients),
    "of_small": (in_float32(small_integers), small_integers, inner_boxes),
    "gradient": False,
}
SPECS = (
    *op(
        "crop-and-resize-grad-boxes",
        "CropAndResizeGradBoxes",
        also("-integer", recipes={"plain": (in_float32(plain), plain, boxes)}, dtypes=tiered(INTEGERS, ())),
        program=_by_boxes,
        promise=CropGradBoxes,
        calls=gradients({label: one for label, one in CROPS.items() if "method" not in one[3]}),
        wrong=_refused(_by_boxes),
        **_SHARED,
        ordinary=ordinary.WEIGHTS | ordinary.boxes(2) | ordinary.IMAGES | {"sum_0": _SIGNS, "sum_1-float32": _SIGNS},
    ),
    *op(
        "crop-and-resize-grad-image",
        "CropAndResizeGradImage",
        also(
            "-exact",
            calls=gradients(EXACT_CROPS),
            recipes={"exact": (in_float32(small_integers), small_integers, exact_boxes)},
        ),
        program=_by_image,
        promise=CropGradImage,
        calls=gradients(CROPS),
        wrong=_refused(_by_image),
        **_SHARED,
        ordinary=ordinary.WEIGHTS | ordinary.boxes(2),
    ),
)
