"""Geometry: where the windows of an image lie, and which places of a filter they meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

Shape = tuple[int, ...]
Padding = str | tuple[tuple[int, int], ...]


def extents(size: int, window: int, stride: int, padding: str | tuple[int, int]) -> tuple[int, int]:
    """The number of windows along a dimension, and the padding before its first place.

    Args:
      size: of the image.
      window: the places from the first of a window to its last.
      stride: the places between two windows.
      padding: `VALID`, `SAME`, or the places before and after.

    Source of `SAME`: https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding_2
    """
    if padding == "SAME":
        count = -(-size // stride)
        return count, max((count - 1) * stride + window - size, 0) // 2
    before, after = (0, 0) if isinstance(padding, str) else padding
    return max((size + before + after - window) // stride + 1, 0), before


@dataclass(frozen=True)
class Geometry:
    """The places of a convolution: the sizes of the image and of the filter along its dimensions, and how they meet."""

    image: Shape
    filter: Shape
    strides: Shape
    dilations: Shape
    padding: Padding

    def extents(self, i: int) -> tuple[int, int]:
        """The number of windows along dimension i, and the padding before its first place."""
        window = (self.filter[i] - 1) * self.dilations[i] + 1
        padding = self.padding if isinstance(self.padding, str) else self.padding[i]
        return extents(self.image[i], window, self.strides[i], padding)

    @property
    def output(self) -> Shape:
        """The number of windows along each dimension."""
        return tuple(self.extents(i)[0] for i in range(len(self.image)))

    def meetings(self) -> Iterator[tuple[Shape, tuple[slice, ...], tuple[slice, ...]]]:
        """Each place of the filter, with the slices of the image and of the output whose elements it connects."""
        for place in np.ndindex(*self.filter):
            pairs = [self._slices(i, k) for i, k in enumerate(place)]
            if all(pairs):
                yield place, tuple(p[0] for p in pairs if p), tuple(p[1] for p in pairs if p)

    def _slices(self, i: int, k: int) -> tuple[slice, slice] | None:
        """Along a dimension: the slices of the image and the output that place k connects; None if there are none."""
        count, before = self.extents(i)
        stride, offset = self.strides[i], k * self.dilations[i] - before
        first, last = max(-(offset // stride), 0), min((self.image[i] - 1 - offset) // stride + 1, count)
        if last <= first:
            return None
        start = first * stride + offset
        return slice(start, (last - 1) * stride + offset + 1, stride), slice(first, last)
