"""Crops: boxes cut out of images, in another size. Places are exact fractions; kernels compute them in float32.

Pixel i of `count` shows an image of `size` pixels, along each axis of a box from a to b, at the place

    a (size - 1) + i (b - a) (size - 1) / (count - 1), and (a + b) (size - 1) / 2 for a single pixel.

Source: https://www.tensorflow.org/api_docs/python/tf/image/crop_and_resize. Nothing documents two details, which follow
the kernel: the nearest pixel of a place in the middle of two is the second one, and the gradient by boxes is that of
bilinear crops, whatever the method.
https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/image/crop_and_resize_op.cc
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import FLOAT32, gamma
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.reductions.reduction import long

#: More than the roundings of a place.
_ROUNDINGS = 8
#: Half of the lowest bit of subnormal float16.
_LOWEST = 2.0**-25


@dataclass(frozen=True)
class _Axis:
    """How the pixels of an image make those of one box, along one axis; one row for each pixel of the box.

    weights     the weight of each pixel of the image, of bilinear crops: zeros for places outside the image.
    picks       the same of nearest pixels.
    slopes      the derivatives of `weights` by the place.
    near        which pixels have a weight, and those next to them.
    inside      whether the place is in the image.
    moves       the derivatives of the place by both ends of the box.
    error       the error of places in float32.
    """

    weights: np.ndarray
    picks: np.ndarray
    slopes: np.ndarray
    near: np.ndarray
    inside: np.ndarray
    moves: np.ndarray
    error: float

    @classmethod
    def of(cls, size: int, count: int, ends: Sequence[float]) -> _Axis:
        """The axis of `count` pixels that show `size` pixels between these ends."""
        first, last = (Fraction(float(end)) for end in ends)
        weights, picks, slopes = (np.zeros((count, size), np.longdouble) for _ in range(3))
        near, inside, moves = np.zeros((count, size), bool), np.zeros(count, bool), np.zeros((count, 2), np.longdouble)
        for i in range(count):
            share = Fraction(i, count - 1) if count > 1 else Fraction(1, 2)
            place = (first + share * (last - first)) * (size - 1)
            moves[i] = [_long((1 - share) * (size - 1)), _long(share * (size - 1))]
            inside[i] = 0 <= place <= size - 1
            if inside[i]:
                low, high = floor(place), ceil(place)
                weights[i, low] += _long(1 - (place - low))
                weights[i, high] += _long(place - low)
                picks[i, floor(place + Fraction(1, 2))] = 1
                slopes[i, high] += 1
                slopes[i, low] -= 1
                near[i, max(low - 1, 0) : high + 2] = True
        error = _ROUNDINGS * FLOAT32 * (size - 1) * float(2 * abs(first) + abs(last))
        return cls(weights, picks, slopes, near, inside, moves, error)

    def moved(self, tangents: np.ndarray) -> np.ndarray:
        """The changes of `weights` along the tangents of both ends."""
        return np.asarray(self.slopes * (self.moves @ long(tangents))[:, None])


def _long(x: Fraction) -> np.longdouble:
    return np.longdouble(x.numerator) / np.longdouble(x.denominator)


@dataclass(frozen=True, kw_only=True)
class Crop(Promise):
    """Crops of images, by boxes and by the number of the image of each box, in float32; and their gradients.

    crop_size               the size of crops.
    method                  `nearest` if pixels are the nearest ones; by default they are means of four.
    extrapolation_value     the value of pixels outside the image.
    """

    crop_size: tuple[int, int]
    method: str = "bilinear"
    extrapolation_value: float = 0.0

    @property
    def nearest(self) -> bool:
        """Whether pixels are the nearest ones."""
        return self.method == "nearest"

    def f(self, *xs: np.ndarray) -> np.ndarray:
        image, boxes, index = xs
        crops = np.full((len(boxes), *self.crop_size, image.shape[3]), self.extrapolation_value, np.float32)
        for crop, picture, (rows, columns) in self._each(crops, image, boxes, index):
            pixels = np.einsum("ph,hwc,qw->pqc", self._weights(rows), long(picture), self._weights(columns))
            inside = np.ix_(rows.inside, columns.inside)
            crop[inside] = pixels[inside]
        return crops

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray | float:
        """The errors of both places, at most twice the largest pixel nearby for each, and 8 roundings of the mean."""
        image, boxes, index = xs
        if self.nearest:
            return 0.0
        errors = np.zeros((len(boxes), *self.crop_size, image.shape[3]))
        for crop, picture, (rows, columns) in self._each(errors, image, boxes, index):
            crop[...] = (2 * (rows.error + columns.error) + 8 * FLOAT32) * _largest(picture, rows, columns)
        return errors

    def vjp(self, g: np.ndarray, image: np.ndarray, boxes: np.ndarray, index: np.ndarray) -> tuple[Any, ...]:
        """The gradients by images and by boxes."""
        return self.by_image(g, boxes, index, image.shape), self.by_boxes(g, image, boxes, index), None

    def jvp(self, ts: Any, image: np.ndarray, boxes: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Forward mode: the crops of the tangent of images, and the changes of weights."""
        crops = np.zeros((len(boxes), *self.crop_size, image.shape[3]), np.longdouble)
        for n, (crop, picture, (rows, columns)) in enumerate(self._each(crops, image, boxes, index)):
            down, right, tangent = rows.moved(ts[1][n, ::2]), columns.moved(ts[1][n, 1::2]), ts[0][int(index[n])]
            crop += np.einsum("ph,hwc,qw->pqc", self._weights(rows), long(tangent), self._weights(columns))
            crop += np.einsum("ph,hwc,qw->pqc", down, long(picture), columns.weights)
            crop += np.einsum("ph,hwc,qw->pqc", rows.weights, long(picture), right)
        return crops.astype(np.float32)

    def hvp(self, g: np.ndarray, ts: Any, image: np.ndarray, boxes: np.ndarray, index: np.ndarray) -> tuple[Any, ...]:
        """Second order: each gradient along the tangents of images and boxes."""
        by_image, by_boxes = np.zeros(image.shape, np.longdouble), self.by_boxes(g, ts[0], boxes, index)
        for n, (crop, picture, (rows, columns)) in enumerate(self._each(long(g), image, boxes, index)):
            down, right = rows.moved(ts[1][n, ::2]), columns.moved(ts[1][n, 1::2])
            back = by_image[int(index[n])]
            back += np.einsum("ph,pqc,qw->hwc", down, crop, columns.weights)
            back += np.einsum("ph,pqc,qw->hwc", rows.weights, crop, right)
            parts = crop, long(picture)
            by_boxes[n, ::2] += np.einsum("pqc,hwc,ph,qw,pi->i", *parts, rows.slopes, right, rows.moves)
            by_boxes[n, 1::2] += np.einsum("pqc,hwc,ph,qw,qi->i", *parts, down, columns.slopes, columns.moves)
        return by_image, by_boxes, None

    def by_image(self, g: np.ndarray, boxes: np.ndarray, index: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        """The gradient by images of this shape: the upstreams, each times the weights of its pixels."""
        total = np.zeros(shape, np.longdouble)
        for crop, picture, (rows, columns) in self._each(long(g), total, boxes, index):
            picture += np.einsum("ph,pqc,qw->hwc", self._weights(rows), crop, self._weights(columns))
        return total

    def by_boxes(self, g: np.ndarray, image: np.ndarray, boxes: np.ndarray, index: np.ndarray) -> np.ndarray:
        """The gradient by boxes: the slopes of images, times the derivatives of places."""
        total = np.zeros((len(boxes), 4), np.longdouble)
        for n, (crop, picture, (rows, columns)) in enumerate(self._each(long(g), image, boxes, index)):
            parts = crop, long(picture)
            total[n, ::2] = np.einsum("pqc,hwc,ph,qw,pi->i", *parts, rows.slopes, columns.weights, rows.moves)
            total[n, 1::2] = np.einsum("pqc,hwc,ph,qw,qi->i", *parts, rows.weights, columns.slopes, columns.moves)
        return total

    def grad_error(
        self, i: int, u: float, g: np.ndarray, image: np.ndarray, boxes: np.ndarray, index: np.ndarray
    ) -> np.ndarray:
        """The errors of sums of products, and those of places."""
        if i == 0:
            return self.image_error(u, g, boxes, index, image.shape)
        return self.boxes_error(g, image, boxes, index)

    def image_error(
        self, u: float, g: np.ndarray, boxes: np.ndarray, index: np.ndarray, shape: Sequence[int]
    ) -> np.ndarray:
        """The error of the gradient by images: products in float32 that are added in the dtype of the images."""
        sizes = np.abs(np.asarray(g, np.float64))
        unit, moved, terms = (np.zeros(shape) for _ in range(3))
        for n, (rows, columns) in enumerate(self._axes(shape, boxes)):
            weights, near = (self._weights(rows), self._weights(columns)), (rows.near, columns.near)
            back = "ph,pqc,qw->hwc"
            image = int(index[n])
            unit[image] += np.einsum(back, weights[0], sizes[n], weights[1]).astype(np.float64)
            terms[image] += np.einsum(back, near[0], np.ones(sizes[n].shape), near[1])
            moved[image] += np.einsum(back, near[0], sizes[n], near[1]) * (rows.error + columns.error)
        lowest = terms * _LOWEST if u > FLOAT32 else 0.0
        of_places = 0.0 if self.nearest else moved
        return np.asarray(gamma(terms + 4, max(u, FLOAT32)) * unit + of_places + lowest)

    def boxes_error(self, g: np.ndarray, image: np.ndarray, boxes: np.ndarray, index: np.ndarray) -> np.ndarray:
        """The error of the gradient by boxes, in float32: sums of a slope, times the share of an end in each place.

        A slope is at most twice the largest pixel nearby, and an error of a place moves it by four times that.
        """
        errors = np.zeros((len(boxes), 4))
        sizes = np.abs(np.asarray(g, np.float64))
        for n, (crop, picture, (rows, columns)) in enumerate(self._each(sizes, image, boxes, index)):
            unit = np.sum(crop * _largest(picture, rows, columns), axis=-1)
            rounded = 2 * gamma(crop.size + 12, FLOAT32)
            errors[n, ::2] = unit.sum(axis=1) @ rows.moves * (rounded + 4 * columns.error)
            errors[n, 1::2] = unit.sum(axis=0) @ columns.moves * (rounded + 4 * rows.error)
        return errors

    def _weights(self, axis: _Axis) -> np.ndarray:
        return axis.picks if self.nearest else axis.weights

    def _axes(self, shape: Sequence[int], boxes: np.ndarray) -> Iterator[tuple[_Axis, _Axis]]:
        """Both axes of each box."""
        for top, left, bottom, right in boxes:
            yield (
                _Axis.of(shape[1], self.crop_size[0], (top, bottom)),
                _Axis.of(shape[2], self.crop_size[1], (left, right)),
            )

    def _each(self, crops: np.ndarray, images: np.ndarray, boxes: np.ndarray, index: np.ndarray) -> Iterator[Any]:
        """The crop of each box, its image, and its axes."""
        for crop, i, axes in zip(crops, index, self._axes(images.shape, boxes), strict=True):
            yield crop, images[int(i)], axes


def _largest(image: np.ndarray, rows: _Axis, columns: _Axis) -> np.ndarray:
    """The largest size of the pixels near each place; 0 for places outside the image."""
    sizes = np.abs(np.asarray(image, np.float64))
    by_row = np.stack([np.max(sizes[at], axis=0, initial=0.0) for at in rows.near])
    return np.stack([np.max(by_row[:, at], axis=1, initial=0.0) for at in columns.near], axis=1)


class CropGradImage(Crop):
    """The gradient of `Crop` by images as an op of the upstream, and of images, whose shape and dtype alone matter."""

    def f(self, *xs: np.ndarray) -> np.ndarray:
        g, image, boxes, index = xs
        return self.by_image(g, boxes, index, image.shape)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        g, image, boxes, index = xs
        return self.image_error(u, g, boxes, index, image.shape)


class CropGradBoxes(Crop):
    """The gradient of `Crop` by boxes, as an op of the upstream, of images, of boxes and of their images."""

    def f(self, *xs: np.ndarray) -> np.ndarray:
        g, image, boxes, index = xs
        return self.by_boxes(g, image, boxes, index).astype(np.float32)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        g, image, boxes, index = xs
        return self.boxes_error(g, image, boxes, index)
