"""The gradients of CropAndResize, as ops: by images and by boxes."""

import numpy as np

from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.crops import (
    CROPS,
    EXACT_CROPS,
    FIELDS,
    IMAGE,
    INTEGERS,
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
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.crop import CropGradBoxes, CropGradImage


def _upstream(draw, dtype, *shape):
    return plain(draw, np.dtype("float32"), *shape)


def _whole_upstream(draw, dtype, *shape):
    return small_integers(draw, np.dtype("float32"), *shape)


def _positive_upstream(draw, dtype, *shape):
    return positive(draw, np.dtype("float32"), *shape)


def _bilinear(sizes):
    """The sizes of bilinear crops."""
    return {label: one for label, one in sizes.items() if "method" not in one[3]}


def _gradients(sizes, op, promise):
    """The calls of an op of gradients that belong to the calls of these sizes."""
    return {
        label: Call(
            op(method=attrs.get("method", "bilinear")),
            promise(crop_of(size, **attrs)),
            ((count, *size, shape[3]), shape, (count, 4)),
            computed=(_image_of_each_upstream,),
        )
        for label, (shape, count, size, attrs) in sizes.items()
    }


def _image_of_each_upstream(upstream, image, boxes):
    return image_of_each(image, boxes)


def _grad_image(**method):
    return lambda tf, g, x, boxes, index: tf.raw_ops.CropAndResizeGradImage(
        grads=g, boxes=boxes, box_ind=index, image_size=tf.shape(x), T=x.dtype, **method
    )


def _grad_boxes(**method):
    return lambda tf, g, x, boxes, index: tf.raw_ops.CropAndResizeGradBoxes(
        grads=g, image=x, boxes=boxes, box_ind=index, **method
    )


#: Of upstreams, images and boxes.
_OF_NAN = {
    op: {
        "nan-box": Wrong(
            lambda tf, g, x, boxes, of=of: of(tf, g, x, boxes * np.nan, tf.constant([0, 0])),
            ((2, *TWO, 2), IMAGE, PAIR),
            IN_KERNEL,
        )
    }
    for op, of in {"image": _grad_image(), "boxes": _grad_boxes()}.items()
}
_OF_UPSTREAM = {"plain": (_upstream, plain, boxes), "positive": (_positive_upstream, positive, inner_boxes)}
_OF_EXACT = {"exact": (_whole_upstream, small_integers, exact_boxes)}

SPECS = (
    *op(
        "crop-and-resize-grad-boxes",
        "CropAndResizeGradBoxes",
        calls=_gradients(_bilinear(CROPS), _grad_boxes, CropGradBoxes),
        recipes=_OF_UPSTREAM,
        small=small(_gradients, _grad_boxes, CropGradBoxes),
        wrong=_OF_NAN["boxes"],
        of_small=(_whole_upstream, small_integers, inner_boxes),
        dtypes=tiered(("float32", *REST)),
        gradient=False,
        fields=FIELDS,
    ),
    *op(
        "crop-and-resize-grad-boxes-integer",
        "CropAndResizeGradBoxes",
        calls=_gradients(_bilinear(CROPS), _grad_boxes, CropGradBoxes),
        recipes={"plain": (_upstream, plain, boxes)},
        gradient=False,
        fields={**FIELDS, "dtypes": INTEGERS, "tier": "full"},
    ),
    *op(
        "crop-and-resize-grad-image",
        "CropAndResizeGradImage",
        calls=_gradients(CROPS, _grad_image, CropGradImage),
        recipes=_OF_UPSTREAM,
        small=small(_gradients, _grad_image, CropGradImage),
        wrong=_OF_NAN["image"],
        of_small=(_whole_upstream, small_integers, inner_boxes),
        dtypes=tiered(("float32", *REST)),
        gradient=False,
        fields=FIELDS,
    ),
    *op(
        "crop-and-resize-grad-image-exact",
        "CropAndResizeGradImage",
        calls=_gradients(EXACT_CROPS, _grad_image, CropGradImage),
        recipes=_OF_EXACT,
        dtypes=tiered(("float32", *REST)),
        gradient=False,
        fields=FIELDS,
    ),
)
