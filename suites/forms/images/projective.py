"""Projective: the calls of ImageProjectiveTransformV2 and V3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.forms.calls import Call, Shape

Transform = tuple[float, ...]
#: Label → the shape of images, the size of results, the mode of filling, and the transforms, or how many are drawn.
Table = Mapping[str, tuple[Shape, tuple[int, int], str, int | Sequence[Transform]]]


def moved(right: float, down: float) -> Transform:
    """The transform whose result shows the image this far to the right and below."""
    return (1, 0, right, 0, 1, down, 0, 0)


#: Matrices of transforms, without their last entry, which is 1.
IDENTITY = moved(0, 0)
FLIPPED = (-1, 0, 3, 0, -1, 2, 0, 0)
TURNED = (0, 1, 0, -1, 0, 3, 0, 0)
HALVES = (0.5, 0, -1.5, 0, 0.5, -1, 0, 0)
NO_PLACE = (1, 0, 0, 0, 1, 0, -0.5, -0.5)
ONE_PIXEL = (0, 0, 1, 0, 0, 2, 0, 0)

#: One transform for each image.
DRAWN: Table = {
    "up": ((2, 4, 5, 3), (7, 6), "CONSTANT", 2),
    "reflected": ((2, 3, 4, 1), (6, 5), "REFLECT", 2),
    "clamped": ((2, 3, 4, 1), (5, 6), "NEAREST", 2),
    "to_one": ((2, 4, 3, 2), (1, 1), "CONSTANT", 2),
}
#: One transform for all images.
SHARED: Table = {
    "down": ((3, 7, 6, 2), (3, 2), "REFLECT", 1),
    "from_one": ((2, 1, 1, 2), (2, 3), "CONSTANT", 1),
}
#: Places are exact in float32.
EXACT: Table = {
    "identity": ((2, 3, 4, 2), (3, 4), "CONSTANT", [IDENTITY]),
    "halves": ((2, 3, 4, 1), (7, 9), "CONSTANT", [HALVES, FLIPPED]),
    "no_place": ((1, 2, 4, 1), (2, 4), "CONSTANT", [NO_PLACE]),
    "outside": ((2, 3, 4, 1), (3, 4), "CONSTANT", [moved(4, 0), moved(0, -9)]),
    "clamped": ((2, 3, 4, 1), (7, 9), "NEAREST", [HALVES, moved(-5, 4)]),
    "reflected": ((2, 3, 4, 2), (7, 9), "REFLECT", [HALVES, moved(-9, 7)]),
    "wrapped": ((2, 4, 5, 1), (3, 4), "WRAP", [moved(3, -2), moved(-3, 2)]),
    "one_pixel": ((2, 3, 4, 2), (2, 3), "CONSTANT", [ONE_PIXEL]),
    "without_rows": ((1, 0, 4, 1), (2, 3), "NEAREST", [IDENTITY]),
}
#: The result shows each pixel of an image once, or not at all.
ONCE: Table = {
    "identity": ((2, 3, 4, 2), (3, 4), "REFLECT", [IDENTITY]),
    "moved": ((2, 3, 4, 1), (3, 4), "CONSTANT", [moved(1, -1), moved(-2, 0)]),
    "larger": ((2, 3, 4, 1), (5, 7), "CONSTANT", [moved(-1, -2)]),
    "smaller": ((2, 3, 4, 1), (1, 2), "CONSTANT", [moved(1, 2)]),
    "turned": ((2, 4, 4, 2), (4, 4), "NEAREST", [TURNED, IDENTITY]),
    "flipped": ((1, 3, 4, 1), (3, 4), "WRAP", [FLIPPED]),
}
#: The result shows pixels, or parts of them, several times.
SEVERAL_TIMES: Table = {
    "clamped": ((1, 3, 4, 1), (3, 4), "NEAREST", [moved(1, 0)]),
    "reflected": ((1, 3, 4, 1), (3, 4), "REFLECT", [moved(-2, 0)]),
    "halves": ((1, 3, 4, 1), (7, 9), "CONSTANT", [HALVES]),
    "down": ((1, 5, 7, 1), (2, 3), "CONSTANT", [(2.5, 0, 0, 0, 2.5, 0, 0, 0)]),
}
#: Places more than one image away, and between two images.
WRAPPED: Table = {
    "beyond_two": ((1, 1, 4, 1), (1, 6), "WRAP", [moved(6, 0)]),
    "below_one": ((1, 1, 4, 1), (1, 4), "WRAP", [moved(-7, 0)]),
    "between": ((1, 1, 4, 1), (1, 4), "WRAP", [(0.125, 0, 3.125, 0, 1, 0, 0, 0)]),
}
#: Places where float32 has odd numbers, where it has none, far away, and beyond its range.
FAR: Table = {
    "odd": ((1, 3, 4, 1), (1, 1), "CONSTANT", [moved(2.0**23 + 1, 0)]),
    "even": ((1, 3, 4, 1), (1, 1), "CONSTANT", [moved(2.0**24 + 2, 0)]),
    "far": ((1, 3, 4, 1), (1, 1), "CONSTANT", [moved(-(2.0**99), 0)]),
    "infinite": ((1, 3, 4, 1), (1, 2), "CONSTANT", [(3e38, 0, 3e38, 0, 1, 0, 0, 0)]),
}
#: The shapes of small images: none, without channels, and of one pixel.
SMALL = {"no_images": (0, 3, 4, 2), "no_channels": (2, 3, 4, 0), "pixel": (1, 1, 1, 1)}


def transforms(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Transforms near the identity, in float32; k is between 0.3 and 1.7 for small results."""
    near = draw.uniform(*shape) * (0.3, 0.3, 1.5, 0.3, 0.3, 1.5, 0.05, 0.05)
    return (near + IDENTITY).astype("float32")


def program(raw: str) -> Callable[..., Any]:
    """A program that calls the op; `exact` is for the promise alone."""
    return lambda tf, images, transforms, output_shape, exact=False, **attrs: getattr(tf.raw_ops, raw)(
        images=images, transforms=transforms, output_shape=tf.constant(output_shape, "int32"), **attrs
    )


def calls(table: Table, *interpolations: str, **value: Any) -> dict[str, Call]:
    """The calls of a table with each interpolation, and with a fill value."""
    return {
        f"{interpolation.lower()}_{label}": _call(*entry, interpolation=interpolation, **value)
        for interpolation in interpolations
        for label, entry in table.items()
    }


def _call(shape: Shape, size: tuple[int, int], fill: str, of: int | Sequence[Transform], **attrs: Any) -> Call:
    """A call with transforms that are drawn, or with these."""
    drawn = isinstance(of, int)
    return Call(
        shapes=(shape, (of, 8)) if isinstance(of, int) else (shape,),
        attrs={"output_shape": size, "fill_mode": fill, "exact": not drawn, **attrs},
        computed=() if drawn else (lambda images: np.array(of, "float32"),),
    )
