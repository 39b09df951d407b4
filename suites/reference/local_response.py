"""Local response normalisation: each channel, divided by a power of the squares of the channels next to it.

Source: A. Krizhevsky, I. Sutskever, G. E. Hinton, ImageNet Classification with Deep Convolutional Neural Networks,
section 3.3, https://papers.nips.cc/paper/4824 ; the sum over 2 radius + 1 channels is that of
https://www.tensorflow.org/api_docs/python/tf/nn/local_response_normalization
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.pooling import FLOAT16
from tf_opdiff.suites.reference.promise import Promise
from tf_opdiff.suites.reference.reduction import long
from tf_opdiff.suites.reference.running import ROUNDINGS, Running
from tf_opdiff.suites.reference.subnormal import flushed_in


@dataclass(frozen=True)
class LocalResponse(Promise):
    """y = x / N^beta with N = bias + alpha Σ x²: the sum is over the channels at most `radius` away.

    Channels are along the last axis.
    """

    radius: int
    bias: float = 1.0
    alpha: float = 1.0
    beta: float = 0.5

    def f(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.normalized(long(x)))

    def vjp(self, g: np.ndarray, x: np.ndarray) -> tuple[np.ndarray]:
        return (np.asarray(self.backward(long(g), long(x), self.normalized(long(x)))),)

    def jvp(self, ts: Any, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.forward(long(ts[0]), long(x)))

    def hvp(self, g: np.ndarray, ts: Any, x: np.ndarray) -> tuple[np.ndarray]:
        return (np.asarray(self.curved(long(g), long(ts[0]), long(x))),)

    def error(self, u: float, x: np.ndarray) -> np.ndarray:
        return np.where(self.f(x) == 0, 0.0, _error(self.normalized, u, x))

    def grad_error(self, i: int, u: float, g: np.ndarray, x: np.ndarray) -> np.ndarray:
        return _error(lambda g, x: self.backward(g, x, self.normalized(x)), u, g, x)

    def jvp_error(self, u: float, ts: Any, x: np.ndarray) -> np.ndarray:
        return _error(self.forward, u, ts[0], x)

    def hvp_error(self, i: int, u: float, g: np.ndarray, ts: Any, x: np.ndarray) -> np.ndarray:
        return _error(self.curved, u, g, ts[0], x)

    def others(self, dtype: np.dtype, x: np.ndarray) -> list[np.ndarray]:
        return [flushed_in(dtype, self.f(x)), self.f(flushed_in(dtype, x))]

    def grad_others(self, i: int, dtype: np.dtype, g: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
        return [np.asarray(self.by_jacobian(long(g), long(x), self.normalized(long(x))))]

    def normalized(self, x: Any) -> Any:
        """y."""
        return x * self.norm(x) ** -self.beta

    def norm(self, x: Any) -> Any:
        """N."""
        return self.bias + self.alpha * self.near(x * x)

    def backward(self, g: Any, x: Any, y: Any) -> Any:
        """The VJP, from the result y: g / N^beta - 2 alpha beta x Σ g y / N."""
        norm = self.norm(x)
        return g * norm**-self.beta - x * (2 * self.alpha * self.beta) * self.near(g * y / norm)

    def by_jacobian(self, g: Any, x: Any, y: Any) -> Any:
        """The same as a sum of upstreams times elements of the Jacobian: an infinite upstream meets no other number."""
        norm, places = self.norm(x), np.arange(x.shape[-1])
        across = x[..., None, :] * (2 * self.alpha * self.beta) * (y / norm)[..., None]
        jacobian = np.where(places[:, None] == places, (norm**-self.beta)[..., None], 0) - across
        terms = np.where(np.abs(places[:, None] - places) <= self.radius, jacobian * g[..., None], 0)
        return np.sum(terms, axis=-2)

    def forward(self, t: Any, x: Any) -> Any:
        """The derivative of y along t."""
        norm = self.norm(x)
        return t * norm**-self.beta - x * (2 * self.alpha * self.beta) * self.near(x * t) * norm ** (-self.beta - 1)

    def curved(self, g: Any, t: Any, x: Any) -> Any:
        """The derivative of the VJP along t."""
        norm, turn = self.norm(x), 2 * self.alpha * self.near(x * t)
        down = norm ** (-self.beta - 1)
        inner = self.near(g * t * down - g * x * turn * (self.beta + 1) * norm ** (-self.beta - 2))
        pulled = t * self.near(g * x * down) + x * inner
        return -g * turn * down * self.beta - pulled * (2 * self.alpha * self.beta)

    def near(self, x: Any) -> Any:
        """The sums over the channels at most `radius` away."""
        places = np.arange(x.shape[-1])
        return np.sum(np.where(np.abs(places[:, None] - places) <= self.radius, x[..., None, :], 0), axis=-1)


@dataclass(frozen=True)
class LocalResponseGradient(Promise):
    """The gradient of `LocalResponse` as an op of the upstream g, the tensor x, and the result y."""

    of: LocalResponse

    def f(self, g: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.of.backward(long(g), long(x), long(y)))

    def error(self, u: float, g: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _error(self.of.backward, u, g, x, y)

    def others(self, dtype: np.dtype, g: np.ndarray, x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
        both = [self.f(g, x, y), np.asarray(self.of.by_jacobian(long(g), long(x), long(y)))]
        small = self.f(*(flushed_in(dtype, z) for z in (g, x, y)))
        return [both[1], small, *(flushed_in(dtype, one) for one in (*both, small))]

    def vjp(self, h: np.ndarray, g: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.asarray(part) for part in self.back(*map(long, (h, g, x, y))))

    def grad_error(self, i: int, u: float, h: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        return _error(lambda *all_of: self.back(*all_of)[i], u, h, *xs)

    def back(self, h: Any, g: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        """The gradients by g, x and y."""
        of, norm = self.of, self.of.norm(x)
        scale, met = 2 * of.alpha * of.beta, of.near(h * x)
        by_norm = g * y * met * scale / (norm * norm) - g * h * norm ** (-of.beta - 1) * of.beta
        by_x = x * (2 * of.alpha) * of.near(by_norm) - h * of.near(g * y / norm) * scale
        return h * norm**-of.beta - y / norm * met * scale, by_x, -g / norm * met * scale


def _error(function: Callable[..., Any], u: float, *xs: np.ndarray) -> np.ndarray:
    """The error of a function of arrays with unit round-off u, by running error analysis.

    NaN and infinities count as zeros: where they reach, there is no error, and the class is compared. A subnormal
    number of float16 is a whole number of steps of 2^-24.
    """
    numbers = (np.where(np.isfinite(x), x, 0.0) for x in xs)
    result = function(*(Running.exact(x, ROUNDINGS * u) for x in numbers))
    subnormal = (u == FLOAT16) & (result.value != 0) & (np.abs(result.value) < 2.0**-14)
    return np.asarray(result.error + np.where(subnormal, 2.0**-24, 0.0))
