"""Warps: images behind projective transforms. Places are exact; kernels compute them in float32.

The pixel (x, y) of a result shows an image at the place

    ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), where k = c0 x + c1 y + 1; no place for k = 0.

Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ImageProjectiveTransformV3. Outside of an image, the mode
of filling extends it: CONSTANT by the fill value, NEAREST by its border, REFLECT as `dcba|abcd|dcba`, and WRAP as
`abcd|abcd|abcd`. Nothing documents two details, which follow the kernel: the nearest pixel of a place in the middle of
two is the one further from 0, and integers lose their fractions.
https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/image/image_ops.h
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import FLOAT32, gamma
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.reductions.reduction import long

#: More than the roundings of a place.
_ROUNDINGS = 8
#: Half of the lowest bit of subnormal float16.
_LOWEST = 2.0**-25


def _reflected(i: np.ndarray, size: int) -> np.ndarray:
    return np.minimum(i % (2 * size), 2 * size - 1 - i % (2 * size))


#: Mode of filling → the pixel of an image at an index of the extended image; the index `size` has the fill value.
_EXTENDED: Mapping[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "CONSTANT": lambda i, size: np.where((i >= 0) & (i < size), i, size),
    "NEAREST": lambda i, size: np.clip(i, 0, size - 1),
    "REFLECT": _reflected,
    "WRAP": lambda i, size: i % size,
}


@dataclass(frozen=True)
class _Axis:
    """The pixels of images that the pixels of results show along one axis.

    taps    pairs (the indices of pixels, their weights).
    near    the indices of the pixels that have a weight at a place within its error.
    error   the errors of places in float32.
    """

    taps: list[tuple[np.ndarray, np.ndarray]]
    near: list[np.ndarray]
    error: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Warp(Promise):
    """Images behind projective transforms, one for all images or one for each, and their gradients by images.

    output_shape    the size of results.
    interpolation   `NEAREST` if pixels are the nearest ones, `BILINEAR` if they are means of four.
    fill_mode       the mode of filling.
    fill_value      the fill value.
    exact           whether places in float32, and sums of their pixels, are exact.
    """

    output_shape: tuple[int, int]
    interpolation: str = "BILINEAR"
    fill_mode: str = "CONSTANT"
    fill_value: float = 0.0
    exact: bool = False

    @property
    def nearest(self) -> bool:
        """Whether pixels are the nearest ones."""
        return self.interpolation == "NEAREST"

    @property
    def mistaken(self) -> Kernel:
        """What the kernel and TensorFlow's gradient compute."""
        return Kernel(**vars(self))

    def f(self, images: np.ndarray, transforms: np.ndarray) -> np.ndarray:
        shown = self._shown(images, transforms, self.fill_value)
        return np.trunc(shown).astype(images.dtype) if images.dtype.kind in "iu" else shown

    def error(self, u: float, images: np.ndarray, transforms: np.ndarray) -> np.ndarray | float:
        return 0.0 if self.exact else self._mean_error(u, images, transforms)

    def vjp(self, g: np.ndarray, images: np.ndarray, transforms: np.ndarray) -> tuple[Any, ...]:
        """The gradient by images: each upstream, at the pixels that the result shows, times their weights."""
        return self._sent_back(long(g), images, transforms), None

    def grad_error(self, i: int, u: float, g: np.ndarray, images: np.ndarray, transforms: np.ndarray) -> Any:
        """The errors of sums of products in float32."""
        sizes = self._sent_back(np.abs(g), images, transforms)
        terms = self._sent_back(np.ones(g.shape), images, transforms)
        return 0.0 if self.nearest else gamma(terms + 4, max(u, FLOAT32)) * sizes + _LOWEST * (u > FLOAT32)

    def jvp(self, ts: Any, images: np.ndarray, transforms: np.ndarray) -> np.ndarray:
        """Forward mode: the tangent of images behind the transforms."""
        return self._shown(ts[0], transforms, 0.0)

    def jvp_error(self, u: float, ts: Any, images: np.ndarray, transforms: np.ndarray) -> np.ndarray | float:
        return self._mean_error(u, ts[0], transforms)

    def _mean_error(self, u: float, images: np.ndarray, transforms: np.ndarray) -> np.ndarray | float:
        """The errors of both places, at most twice the largest pixel nearby for each, and the roundings of the mean."""
        if self.nearest:
            return 0.0
        rows, columns = self._axes(images.shape, transforms)
        sizes, batch = np.abs(self._padded(images, self.fill_value)), _image_index(images)
        largest = np.max([sizes[batch, y, x] for y, x in product(rows.near, columns.near)], axis=0)
        return np.asarray((2 * (rows.error + columns.error) + 8 * FLOAT32 + u)[..., None] * largest, np.float64)

    def _shown(self, images: np.ndarray, transforms: np.ndarray, value: float) -> np.ndarray:
        """The means of pixels, in long double."""
        rows, columns = self._axes(images.shape, transforms)
        padded, batch = self._padded(images, value), _image_index(images)
        total = np.zeros((len(images), *self.output_shape, images.shape[3]), np.longdouble)
        for (y, down), (x, right) in product(rows.taps, columns.taps):
            weights = (down * right)[..., None]
            total += np.where(weights == 0, 0, weights * padded[batch, y, x])
        return total

    def _sent_back(self, g: np.ndarray, images: np.ndarray, transforms: np.ndarray) -> np.ndarray:
        """The transpose of `_shown`, without the fill value."""
        rows, columns = self._axes(images.shape, transforms)
        total, batch = np.zeros_like(self._padded(images, 0.0), np.longdouble), _image_index(images)
        for (y, down), (x, right) in product(rows.taps, columns.taps):
            weights = (down * right)[..., None]
            np.add.at(total, (batch, y, x), np.where(weights == 0, 0, weights * g))
        return total[:, :-1, :-1]

    def _padded(self, images: np.ndarray, value: float) -> np.ndarray:
        """The images with the fill value behind their last row, and behind their last column."""
        return np.pad(long(images), ((0, 0), (0, 1), (0, 1), (0, 0)), constant_values=value)

    def _axes(self, shape: Sequence[int], transforms: np.ndarray) -> Iterator[_Axis]:
        """The rows and the columns of all results."""
        y, x = np.meshgrid(*map(np.arange, self.output_shape), indexing="ij")
        points = np.stack([x, y, np.ones_like(x)])
        ones = np.ones((len(transforms), 1), np.longdouble)
        matrices = np.concatenate([long(transforms), ones], axis=1).reshape(-1, 3, 3)
        across, down, k = np.einsum("nij,jpq->inpq", matrices, points)
        terms = np.einsum("nij,jpq->inpq", np.abs(matrices), points)
        divisor = np.where(k == 0, 1, k)
        for top, own, size in ((down, terms[1], shape[1]), (across, terms[0], shape[2])):
            place = top / divisor
            error = _ROUNDINGS * FLOAT32 * (own + np.abs(place) * terms[2]) / np.abs(divisor)
            yield self._axis(place, error, k == 0, size)

    def _axis(self, place: np.ndarray, error: np.ndarray, nowhere: np.ndarray, size: int) -> _Axis:
        """The axis of images of this size."""

        def at(i: np.ndarray) -> np.ndarray:
            pixel = _EXTENDED[self.fill_mode](i, size) if size else np.zeros_like(i)
            return np.where(nowhere, size, pixel).astype(int)

        if self.nearest:
            place = _reflected(place, size) if self.fill_mode == "REFLECT" and size else place
            pixel = at(np.trunc(place + np.copysign(0.5, place)))
            return _Axis([(pixel, np.ones_like(place))], [pixel], error)
        taps = [(at(pixel), weight) for pixel, weight in self._weights(place)]
        ends = np.floor(place - error), np.floor(place + error)
        return _Axis(taps, [at(low + step) for low in ends for step in (0, 1)], error)

    def _weights(self, place: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """The pixels below and above each place, with their weights in the mean."""
        low = np.floor(place)
        return [(low, 1 - (place - low)), (low + 1, place - low)]


@dataclass(frozen=True, kw_only=True)
class Kernel(Warp):
    """What the kernel computes where it is wrong, and the gradient that TensorFlow has.

    The kernel wraps places by `MapCoordinate`, and weighs pixels by `bilinear_interpolation`, of
    tensorflow/core/kernels/image/image_ops.h. The gradient resamples the upstream by the inverse matrix:
    `_image_projective_transform_grad` of tensorflow/python/ops/image_ops.py.
    """

    def vjp(self, g: np.ndarray, images: np.ndarray, transforms: np.ndarray) -> tuple[Any, ...]:
        ones = np.ones((len(transforms), 1))
        inverse = np.linalg.inv(np.concatenate([transforms, ones], axis=1).reshape(-1, 3, 3)).reshape(-1, 9)
        rows, columns = images.shape[1:3]
        back = replace(self, output_shape=(rows, columns))
        return back._shown(long(g), (inverse / inverse[:, 8:])[:, :8], 0.0), None

    def _axis(self, place: np.ndarray, error: np.ndarray, nowhere: np.ndarray, size: int) -> _Axis:
        if self.fill_mode != "WRAP" or size < 2:
            return super()._axis(place, error, nowhere, size)
        moved = np.where(place < 0, place + size * (np.trunc(-place / (size - 1)) + 1), place)
        moved = np.where(place > size - 1, place - size * np.trunc(place / (size - 1)), moved)
        inside = replace(self, fill_mode="CONSTANT")
        return super(Kernel, inside)._axis(np.clip(moved, 0, size - 1), error, nowhere, size)

    def _weights(self, place: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """The weights are differences in float32, which has no odd numbers beyond 2^24."""
        single = place.astype(np.float32)
        low, high = np.floor(single), np.floor(single) + np.float32(1)
        return [(low, high - single), (high, single - low)]


def _image_index(images: np.ndarray) -> np.ndarray:
    """The index of the image of each pixel."""
    return np.arange(len(images))[:, None, None]
