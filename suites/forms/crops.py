"""Crops: the sizes, boxes and images that the specs of CropAndResize share with those of its gradients."""

import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.reference.crop import Crop

NEAREST = {"method": "nearest"}
#: Label → the shape of images, the number of boxes, the size of crops, and attributes.
CROPS = {
    "up": ((2, 4, 5, 3), 5, (7, 6), {}),
    "down": ((1, 7, 6, 2), 4, (3, 2), {}),
    "outside": ((2, 4, 3, 2), 6, (3, 4), {"extrapolation_value": -1.5}),
    "nearest": ((2, 4, 5, 2), 5, (3, 7), NEAREST),
    "nearest_outside": ((1, 6, 3, 1), 4, (4, 3), {**NEAREST, "extrapolation_value": 2.5}),
    "to_one": ((2, 4, 3, 2), 3, (1, 1), {}),
    "to_row": ((1, 4, 6, 1), 3, (1, 4), {}),
    "to_one_nearest": ((2, 4, 3, 2), 3, (1, 1), NEAREST),
    "from_one": ((1, 1, 1, 2), 2, (2, 3), {}),
}
#: Sizes that give exact places for corners that are few halves of a pixel apart.
EXACT_CROPS = {
    "up": ((2, 3, 5, 2), 7, (5, 9), {}),
    "down": ((1, 9, 5, 2), 6, (3, 2), {"extrapolation_value": -1.5}),
    "nearest": ((2, 5, 3, 1), 7, (3, 5), NEAREST),
    "to_one": ((1, 5, 3, 1), 6, (1, 1), {}),
    "to_one_nearest": ((1, 3, 5, 1), 6, (1, 1), NEAREST),
}
#: Of images and boxes: no box, no image, no channel, and one pixel.
_SMALL = {
    "no_boxes": ((1, 3, 4, 2), 0),
    "no_images": ((0, 3, 4, 2), 0),
    "no_channels": ((1, 3, 4, 0), 2),
    "pixel": ((1, 1, 1, 1), 1),
}
TWO = (3, 2)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16")
REST = ("float16", "float64")
_CANCELS = Loose(
    lambda *inputs, **keywords: True,
    "a pixel, and each gradient, is a sum of products with weights of float32, and numbers of both signs cancel",
)
FIELDS = {"modes": WITHOUT_XLA, "loose": {"output": _CANCELS, "grad": _CANCELS}}
IMAGE, PAIR = (1, 3, 4, 2), (2, 4)


def boxes(draw, dtype, *shape):
    """Boxes with corners in either order, some of them outside the image."""
    return draw.uniform(*shape, low=-0.25, high=1.25).astype("float32")


def exact_boxes(draw, dtype, *shape):
    """The whole image, and boxes with corners at multiples of 1/8, some of them outside the image."""
    drawn = draw.integers(*shape, low=-2, high=11).astype("float32") / 8
    drawn[:1] = (0, 0, 1, 1)
    return drawn


def inner_boxes(draw, dtype, *shape):
    """Boxes inside the image."""
    return draw.uniform(*shape, low=0.1, high=0.9).astype("float32")


def image_of_each(image, boxes):
    """The numbers of the images of boxes: one after the other."""
    return (np.arange(len(boxes)) % max(len(image), 1)).astype("int32")


def crop_of(size, method="bilinear", extrapolation_value=0.0):
    """The reference of a crop with these attributes."""
    return Crop(size=size, nearest=method == "nearest", outside=extrapolation_value)


def small(calls_of, *more):
    """The calls of small inputs."""
    return {label: calls_of({"only": (shape, count, TWO, {})}, *more) for label, (shape, count) in _SMALL.items()}
