"""Resizing: images of another size. Places are exact fractions; kernels compute them in float32.

Pixel i of `count` shows an image of `size` pixels at one of these places, along each axis:

    i size / count                      by default
    i (size - 1) / (count - 1)          with `align_corners`
    (i + 1/2) size / count - 1/2        with `half_pixel_centers`

Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ResizeBilinear and, for the places,
https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/util/image_resizer_state.h
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np


def places(size: int, count: int, *, align_corners: bool = False, half_pixel_centers: bool = False) -> list[Fraction]:
    """The place in an image of `size` pixels that each of `count` pixels shows, along one axis."""
    if half_pixel_centers:
        return [Fraction((2 * i + 1) * size, 2 * count) - Fraction(1, 2) for i in range(count)]
    scale = Fraction(size - 1, count - 1) if align_corners and count > 1 else Fraction(size, count)
    return [i * scale for i in range(count)]


def nearest_places(size: int, count: int, **centers: bool) -> list[int]:
    """The pixel that stands at each place: the nearest one with aligned corners, otherwise the one that contains it."""
    centred = centers.get("align_corners") or centers.get("half_pixel_centers")
    shift = Fraction(1, 2) if centred else 0
    return [min(int(place + shift), size - 1) for place in places(size, count, **centers)]


def nearest(x: np.ndarray, size: Sequence[int], **centers: bool) -> np.ndarray:
    """Images in another size, made of their pixels."""
    rows, columns = (nearest_places(*pair, **centers) for pair in zip(x.shape[1:3], size, strict=True))
    return x[:, rows][:, :, columns]
