"""Local response normalisation: each channel, divided by a power of the squares of the channels next to it.

Source: A. Krizhevsky, I. Sutskever, G. E. Hinton, ImageNet Classification with Deep Convolutional Neural Networks,
section 3.3, https://papers.nips.cc/paper/4824 ; the sum over 2 radius + 1 channels is that of
https://www.tensorflow.org/api_docs/python/tf/nn/local_response_normalization
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import FLOAT16
from tf_opdiff.suites.reference.promises.analysed import Analysed
from tf_opdiff.suites.reference.promises.running import Running, finite
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes
from tf_opdiff.suites.reference.reductions.reduction import long


class _OfFinite(Analysed):
    """A promise whose errors are those of finite numbers."""

    def running(self, u: float, x: np.ndarray) -> Running:
        return finite(u, x)

    def error_of(self, u: float, y: Running, n: int) -> np.ndarray:
        """The error of a result; a subnormal number of float16 is a whole number of steps of 2^-24."""
        subnormal = (u == FLOAT16) & (y.value != 0) & (np.abs(y.value) < 2.0**-14)
        return np.asarray(y.error + np.where(subnormal, 2.0**-24, 0.0))


@dataclass(frozen=True)
class LocalResponse(_OfFinite):
    """y = x / N^beta with N = bias + alpha Σ x²: the sum is over the channels at most `depth_radius` away.

    Channels are along the last axis.
    """

    depth_radius: int
    bias: float = 1.0
    alpha: float = 1.0
    beta: float = 0.5

    def formula(self, x: Any) -> Any:
        return x * self.norm(x) ** -self.beta

    def back(self, g: Any, x: Any) -> tuple[Any]:
        return (self.backward(g, x, self.formula(x)),)

    def along(self, ts: Any, x: Any) -> Any:
        (t,), norm = ts, self.norm(x)
        return t * norm**-self.beta - x * (2 * self.alpha * self.beta) * self.near(x * t) * norm ** (-self.beta - 1)

    def curved(self, g: Any, ts: Any, x: Any) -> tuple[Any]:
        (t,), norm = ts, self.norm(x)
        turn, down = 2 * self.alpha * self.near(x * t), norm ** (-self.beta - 1)
        inner = self.near(g * t * down - g * x * turn * (self.beta + 1) * norm ** (-self.beta - 2))
        pulled = t * self.near(g * x * down) + x * inner
        return (-g * turn * down * self.beta - pulled * (2 * self.alpha * self.beta),)

    def error(self, u: float, *xs: np.ndarray, **attrs: Any) -> np.ndarray:
        return np.where(self.f(*xs) == 0, 0.0, super().error(u, *xs))

    def alternatives(self, dtype: np.dtype, *xs: np.ndarray, **attrs: Any) -> Others:
        (x,) = xs
        return wholes(flushed_in(dtype, self.f(x)), self.f(flushed_in(dtype, x)))

    def grad_alternatives(self, i: int, dtype: np.dtype, g: np.ndarray, x: np.ndarray) -> Others:
        return [np.asarray(self.by_jacobian(long(g), long(x), self.formula(long(x))))]

    def norm(self, x: Any) -> Any:
        """N."""
        return self.bias + self.alpha * self.near(x * x)

    def backward(self, g: Any, x: Any, y: Any) -> Any:
        """The VJP, from the result y: g / N^beta - 2 alpha beta x Σ g y / N."""
        norm = self.norm(x)
        return g * norm**-self.beta - x * (2 * self.alpha * self.beta) * self.near(g * y / norm)

    def by_jacobian(self, g: Any, x: Any, y: Any) -> Any:
        """The gradient by the Jacobian, so that an infinite upstream meets no other number."""
        norm, places = self.norm(x), np.arange(x.shape[-1])
        across = x[..., None, :] * (2 * self.alpha * self.beta) * (y / norm)[..., None]
        jacobian = np.where(places[:, None] == places, (norm**-self.beta)[..., None], 0) - across
        terms = np.where(np.abs(places[:, None] - places) <= self.depth_radius, jacobian * g[..., None], 0)
        return np.sum(terms, axis=-2)

    def near(self, x: Any) -> Any:
        """The sums over the channels at most `depth_radius` away."""
        places = np.arange(x.shape[-1])
        return np.sum(np.where(np.abs(places[:, None] - places) <= self.depth_radius, x[..., None, :], 0), axis=-1)

    def kernel(self, x: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The result of the kernel for CPUs, whose squares and sums of squares are numbers of the dtype.

        The sums are products with zeros and ones: zero times an infinite square is NaN.
        """
        places = np.arange(x.shape[-1])
        band = np.abs(places[:, None] - places) <= self.depth_radius
        squares = (x * x).astype(dtype).astype(np.float64)
        sums = np.sum(squares[..., None, :] * band, axis=-1).astype(dtype)
        return np.asarray(x * (self.bias + self.alpha * sums.astype(np.float64)) ** -self.beta)

    def kernel_back(self, g: np.ndarray, x: np.ndarray, y: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The gradient of the kernel for CPUs, whose every number is of the dtype."""
        g, x, y = (z.astype(dtype) for z in (g, x, y))
        total, places = np.zeros_like(x), np.arange(x.shape[-1])
        for j in places:
            near = np.abs(places - j) <= self.depth_radius
            norm = self.alpha * np.sum(x[..., near] * x[..., near], axis=-1, dtype=dtype) + self.bias
            terms = (-2 * self.alpha * self.beta) * x * y[..., j, None] / norm[..., None]
            terms[..., j] += norm**-self.beta
            total[..., near] += (terms * g[..., j, None])[..., near]
        return total


class LocalResponseGradient(_OfFinite):
    """The gradient of `LocalResponse` as an op of the upstream g, the tensor x, and the result y."""

    def __init__(self, **attributes: Any) -> None:
        self.of = LocalResponse(**attributes)

    def formula(self, *xs: Any) -> Any:
        return self.of.backward(*xs)

    def back(self, g: Any, *xs: Any) -> tuple[Any, ...]:
        h, (g, x, y), of = g, xs, self.of
        norm, scale, met = of.norm(x), 2 * of.alpha * of.beta, of.near(h * x)
        by_norm = g * y * met * scale / (norm * norm) - g * h * norm ** (-of.beta - 1) * of.beta
        by_x = x * (2 * of.alpha) * of.near(by_norm) - h * of.near(g * y / norm) * scale
        return h * norm**-of.beta - y / norm * met * scale, by_x, -g / norm * met * scale

    def alternatives(self, dtype: np.dtype, *xs: np.ndarray, **attrs: Any) -> Others:
        both = [self.f(*xs), np.asarray(self.of.by_jacobian(*map(long, xs)))]
        small = self.f(*(flushed_in(dtype, z) for z in xs))
        return [both[1], *wholes(small, *(flushed_in(dtype, one) for one in (*both, small)))]
