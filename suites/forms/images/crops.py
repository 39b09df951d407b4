"""Crops: the sizes, boxes and images that the specs of CropAndResize share with those of its gradients."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.calls import Call, Calls, Shape
from tf_opdiff.suites.forms.part import tiered

NEAREST = {"method": "nearest"}
#: Label → the shape of images, the number of boxes, the size of crops, and attributes.
Table = Mapping[str, tuple[Shape, int, tuple[int, int], Mapping[str, Any]]]
CROPS: Table = {
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
EXACT_CROPS: Table = {
    "up": ((2, 3, 5, 2), 7, (5, 9), {}),
    "down": ((1, 9, 5, 2), 6, (3, 2), {"extrapolation_value": -1.5}),
    "nearest": ((2, 5, 3, 1), 7, (3, 5), NEAREST),
    "to_one": ((1, 5, 3, 1), 6, (1, 1), {}),
    "to_one_nearest": ((1, 3, 5, 1), 6, (1, 1), NEAREST),
}
#: Shapes of images and boxes: no box, no image, no channel, and one pixel.
_SMALL = {
    "no_boxes": ((1, 3, 4, 2), 0),
    "no_images": ((0, 3, 4, 2), 0),
    "no_channels": ((1, 3, 4, 0), 2),
    "pixel": ((1, 1, 1, 1), 1),
}
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16")
_CANCELS = Loose(
    reason="a pixel, and each gradient, is a sum of products with weights of float32, and numbers of both signs cancel",
    dtype="float32",
)
#: The fields that all ops share.
FIELDS: dict[str, Any] = {
    "dtypes": tiered(("float32", "float16", "float64")),
    "modes": WITHOUT_XLA,
    "loose": {"output": _CANCELS, "grad": _CANCELS},
}
TWO, IMAGE, PAIR = (3, 2), (1, 3, 4, 2), (2, 4)


def crops(table: Table) -> Calls:
    """Calls with images, boxes, and the images of the boxes."""
    return {
        label: Call(shapes=(shape, (count, 4)), attrs={"crop_size": size, **attrs}, computed=(image_of_each,))
        for label, (shape, count, size, attrs) in table.items()
    }


def gradients(table: Table) -> Calls:
    """Calls with upstreams as well, for ops of gradients."""
    return {
        label: replace(
            one,
            shapes=((table[label][1], *table[label][2], table[label][0][3]), *(one.shapes or ())),
            attrs={"method": "bilinear", **one.attrs},
        )
        for label, one in crops(table).items()
    }


def small(calls: Callable[[Table], Calls]) -> dict[str, Calls]:
    """Calls with small inputs."""
    return {label: calls({"only": (shape, count, TWO, {})}) for label, (shape, count) in _SMALL.items()}


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


def image_of_each(*inputs):
    """The numbers of the images of boxes, the last two inputs: one after the other."""
    image, boxes = inputs[-2:]
    return (np.arange(len(boxes)) % max(len(image), 1)).astype("int32")
