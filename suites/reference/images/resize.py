"""Resizing: images of another size. Places are exact fractions; kernels compute them in float32.

Pixel i of `count` shows an image of `size` pixels at one of these places, along each axis:

    i size / count                      by default
    i (size - 1) / (count - 1)          with `align_corners`
    (i + 1/2) size / count - 1/2        with `half_pixel_centers`

Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ResizeBilinear and, for the places,
https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/util/image_resizer_state.h
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.contraction import Multilinear
from tf_opdiff.suites.reference.promises.accumulation import FLOAT32, gamma
from tf_opdiff.suites.reference.reductions.reduction import long

#: The roundings of a place: those of the scale, of its product with a number, and of the difference with 1/2.
_ROUNDINGS = 3


def places(size: int, count: int, *, align_corners: bool = False, half_pixel_centers: bool = False) -> list[Fraction]:
    """The source coordinate of each of `count` output pixels in an image of `size` pixels, along one axis."""
    if half_pixel_centers:
        return [Fraction((2 * i + 1) * size, 2 * count) - Fraction(1, 2) for i in range(count)]
    scale = Fraction(size - 1, count - 1) if align_corners and count > 1 else Fraction(size, count)
    return [i * scale for i in range(count)]


def nearest_places(size: int, count: int, **centers: bool) -> list[int]:
    """The pixel that stands at each place: the nearest one with aligned corners, otherwise the one that contains it."""
    centred = centers.get("align_corners") or centers.get("half_pixel_centers")
    shift = Fraction(1, 2) if centred else 0
    return [min(int(place + shift), size - 1) for place in places(size, count, **centers)]


def kernel_places(size: int, count: int, *, align_corners: bool = False, half_pixel_centers: bool = False) -> list[int]:
    """The pixel that the kernel puts at each place: it rounds the scale to float32, and the place.

    Source: tensorflow/core/util/image_resizer_state.h and tensorflow/core/kernels/image/resize_nearest_neighbor_op.cc.
    """
    single = np.float32
    scale = single(size - 1) / single(count - 1) if align_corners and count > 1 else single(size) / single(count)
    place = (np.arange(count, dtype=single) + single(0.5 if half_pixel_centers else 0)) * scale
    nearest_one = np.floor(place.astype(float) + 0.5) if align_corners else np.floor(place)
    return np.minimum(nearest_one.astype(int), size - 1).tolist()


def nearest(x: np.ndarray, size: Sequence[int], **centers: bool) -> np.ndarray:
    """Images in another size, made of their pixels."""
    return _made_of(nearest_places, x, size, centers)


def nearest_of_kernel(x: np.ndarray, size: Sequence[int], **centers: bool) -> np.ndarray:
    """The images that the kernel makes."""
    return _made_of(kernel_places, x, size, centers)


def _made_of(
    pixels: Callable[..., list[int]], x: np.ndarray, size: Sequence[int], centers: Mapping[str, bool]
) -> np.ndarray:
    rows, columns = (pixels(*pair, **centers) for pair in zip(x.shape[1:3], size, strict=True))
    return x[:, rows][:, :, columns]


@dataclass(frozen=True)
class _Axis:
    """How the pixels of one axis make those of another size.

    weights     one row for each new pixel: the weight of each old one.
    near        which old pixels have a weight, and those next to them: a rounded place can lie between other pixels.
    error       the error of the place of each new pixel, in float32.
    """

    weights: np.ndarray
    near: np.ndarray
    error: np.ndarray

    @classmethod
    def of(cls, size: int, count: int, **centers: bool) -> _Axis:
        """The axis of `count` pixels that show `size` pixels."""
        weights, error = np.zeros((count, size), np.longdouble), np.zeros(count)
        for i, place in enumerate(places(size, count, **centers)):
            first = place.numerator // place.denominator
            share = np.longdouble((place - first).numerator) / (place - first).denominator
            weights[i, np.clip(first, 0, size - 1)] += 1 - share
            weights[i, np.clip(first + 1, 0, size - 1)] += share
            error[i] = _ROUNDINGS * FLOAT32 * (abs(float(place)) + 1)
        padded = np.pad(weights > 0, ((0, 0), (1, 1)))
        return cls(weights, padded[:, :-2] | padded[:, 1:-1] | padded[:, 2:], error)


def _weighted(equation: str, rows: np.ndarray, x: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Sums of numbers times the weights of their rows and columns; a number whose weight is 0 is no term."""
    if np.isfinite(x).all():
        return np.asarray(np.einsum(equation, rows, x, columns))
    special = (np.isnan(x), x == np.inf, x == -np.inf)
    nan, up, down = (np.einsum(equation, rows > 0, each, columns > 0) for each in special)
    finite = np.einsum(equation, rows, np.where(np.isfinite(x), x, 0), columns)
    return np.select([nan | up & down, up, down], [np.nan, np.inf, -np.inf], finite)


@dataclass(frozen=True, kw_only=True)
class Bilinear(Multilinear):
    """Images in another size, in which each pixel is a mean of the four at its place; or the gradient of this.

    Results are in float32, and so is the upstream of a gradient, which is in the dtype of the images.

    size                                the size of the new images.
    align_corners, half_pixel_centers   where pixels lie: see `places`.
    """

    size: tuple[int, int]
    align_corners: bool = False
    half_pixel_centers: bool = False

    def f(self, *xs: np.ndarray) -> np.ndarray:
        (x,) = xs
        rows, columns = self._axes(x.shape)
        return _weighted("oh,bhwc,pw->bopc", rows.weights, long(x), columns.weights).astype(np.float32)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """The errors of places, at most twice the largest pixel nearby for each, and 8 roundings of the mean."""
        (x,) = xs
        rows, columns = self._axes(x.shape)
        near = np.abs(np.where(np.isfinite(x), x, 0).astype(np.float64))
        near = np.stack([near[:, at].max(1) for at in rows.near], 1)
        near = np.stack([near[:, :, at].max(2) for at in columns.near], 2)
        of_places = rows.error[:, None] + columns.error
        return np.asarray((2 * of_places[..., None] + 8 * FLOAT32) * near)

    def vjp(self, g: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """The upstreams, each times the weights of its four pixels."""
        rows, columns = self._axes(x.shape)
        return (_weighted("oh,bopc,pw->bhwc", rows.weights, long(g), columns.weights),)

    def grad_error(self, i: int, u: float, g: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The errors of a sum of products in float32 that are added in the dtype of the images, and those of places."""
        rows, columns = self._axes(x.shape)
        sizes = np.abs(np.asarray(g, np.float64))
        terms = int((rows.weights > 0).sum(0).max() * (columns.weights > 0).sum(0).max())
        unit = np.einsum("oh,bopc,pw->bhwc", rows.weights, sizes, columns.weights)
        moved = [(rows.near * rows.error[:, None], columns.near), (rows.near, columns.near * columns.error[:, None])]
        of_places = sum(np.einsum("oh,bopc,pw->bhwc", a, sizes, b) for a, b in moved)
        return np.asarray(gamma(terms + 4, max(u, FLOAT32)) * unit + of_places, np.float64)

    def _axes(self, shape: Sequence[int]) -> list[_Axis]:
        """Both axes, for images of this shape."""
        centers = {"align_corners": self.align_corners, "half_pixel_centers": self.half_pixel_centers}
        return [_Axis.of(old, new, **centers) for old, new in zip(shape[1:3], self.size, strict=True)]
