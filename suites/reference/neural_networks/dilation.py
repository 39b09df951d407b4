"""Dilation: the largest sums of windows of an image and a filter, with gradients and errors, in long double.

The result is max over places k of image[b, o s + k r, c] + filter[k, c], with strides s and rates r; places of padding
take no part. A gradient belongs to the place with the largest sum; of places with equal sums nothing says which.

Source: https://www.tensorflow.org/api_docs/python/tf/nn/dilation2d
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.contraction import bound
from tf_opdiff.suites.reference.neural_networks.geometry import Geometry, Padding, Shape
from tf_opdiff.suites.reference.promises.promise import Promise


@dataclass(frozen=True, kw_only=True)
class Dilation(Promise):
    """A dilation, or one of its gradients as a function of an image, a filter and an upstream.

    result      `output`, `image` or `filter`: the tensor that it computes.
    strides     the places between two windows, one for each dimension.
    rates       the places between two elements of a window, one for each dimension.
    padding     `VALID` or `SAME`.
    """

    result: str = "output"
    strides: Shape = (1, 1)
    rates: Shape = (1, 1)
    padding: Padding = "VALID"

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The result, in the dtype of integers."""
        image, kernel = xs[:2]
        if self.result == "output":
            value = np.max(self._sums(image, kernel), axis=0, initial=-np.inf)
        else:
            value = self._routed(self.result, xs[2], image, kernel)
        return value.astype(image.dtype) if image.dtype.kind in "iu" else value

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The gradients by the image and by the filter."""
        return tuple(self._routed(name, g, *xs) for name in ("image", "filter"))

    def jvp(self, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """The tangents of the image and of the filter at the place with the largest sum, added."""
        best = np.argmax(self._sums(*xs), axis=0)
        return np.take_along_axis(self._sums(*ts), best[None], axis=0)[0]

    def hvp(self, g: np.ndarray, ts: Any, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """Zeros: a small change of the inputs moves no gradient to another place."""
        return tuple(np.zeros(x.shape) for x in xs)

    def jvp_error(self, u: float, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """One rounding of the sum of two tangents."""
        return u * np.abs(self.jvp(ts, *xs)).astype(np.float64)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """One rounding of the largest sum; those of a sum of upstreams."""
        if self.result == "output":
            return u * np.abs(self.f(*xs)).astype(np.float64)
        return self._error(self.result, u, xs[2], *xs[:2])

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        """The error of a sum of upstreams."""
        return self._error(("image", "filter")[i], u, g, *xs)

    def _error(self, name: str, u: float, g: np.ndarray, image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        total, count, value = (self._routed(name, y, image, kernel) for y in (np.abs(g), np.ones(g.shape), g))
        return bound(u, total.astype(np.float64), count.astype(np.float64), (g,), value)

    def shape(self, image: Shape, kernel: Shape) -> Shape:
        """The shape of a dilation of an image and a filter of these shapes."""
        places = Geometry(image[1:-1], kernel[:-1], self.strides, self.rates, self.padding).output
        return (image[0], *places, image[-1])

    def _geometry(self, image: np.ndarray, kernel: np.ndarray) -> Geometry:
        return Geometry(image.shape[1:-1], kernel.shape[:-1], self.strides, self.rates, self.padding)

    def _sums(self, image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        """The sums at each place of a window, of shape (places, batch, …, channels); -inf at places of padding."""
        geometry = self._geometry(image, kernel)
        shape = (*geometry.filter, image.shape[0], *geometry.output, image.shape[-1])
        sums = np.full(shape, -np.inf, np.longdouble)
        for place, at_image, at_output in geometry.meetings():
            sums[place][:, *at_output] = image[:, *at_image].astype(np.longdouble) + kernel[place]
        return sums.reshape(int(np.prod(geometry.filter)), *shape[len(geometry.filter) :])

    def _routed(self, name: str, g: np.ndarray, image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
        """The sums of the upstreams whose windows have their largest sum at each place of the image or the filter."""
        geometry, sums = self._geometry(image, kernel), self._sums(image, kernel)
        best = np.argmax(sums, axis=0) if sums.size else np.zeros(sums.shape[1:], int)
        result = np.zeros((image if name == "image" else kernel).shape, np.longdouble)
        for place, at_image, at_output in geometry.meetings():
            chosen = np.where(best == np.ravel_multi_index(place, geometry.filter), g, 0)[:, *at_output]
            if name == "image":
                result[:, *at_image] += chosen
            else:
                result[place] += chosen.sum(axis=tuple(range(chosen.ndim - 1)))
        return result
