"""Bias: one number for each channel, which is added to a tensor, with derivatives and errors, in long double."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.contraction import Multilinear
from tf_opdiff.suites.reference.promises.accumulation import sizes, sum_error
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.reductions.reduction import long


@dataclass(frozen=True)
class Channels:
    """Where the channels of a tensor are: along its last axis, or along axis 1 in `NCHW`."""

    data_format: str = "NHWC"

    def axis(self, x: np.ndarray) -> int:
        """The axis of the channels."""
        return 1 if self.data_format == "NCHW" else x.ndim - 1

    def other_axes(self, x: np.ndarray) -> tuple[int, ...]:
        """All other axes."""
        return tuple(axis for axis in range(x.ndim) if axis != self.axis(x))

    def spread(self, bias: np.ndarray, x: np.ndarray) -> np.ndarray:
        """One number for each channel, in the shape of x."""
        shape = [n if axis == self.axis(x) else 1 for axis, n in enumerate(x.shape)]
        return np.broadcast_to(bias.reshape(shape), x.shape)


@dataclass(frozen=True)
class BiasAdd(Channels, Promise):
    """The sum of a tensor and of one number for each channel."""

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The sum; that of integers wraps around in their dtype."""
        value, bias = map(long, xs)
        return value + self.spread(bias, value)

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The upstream, and its sum over each channel."""
        return g, np.sum(long(g), axis=self.other_axes(g))

    def jvp(self, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """The sum of the tangents."""
        return self.f(*ts)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """One rounding."""
        return u * sizes(self.f(*xs)).astype(np.float64)

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        """None of the upstream, and those of a sum."""
        axes = self.other_axes(g)
        return np.zeros(g.shape) if i == 0 else np.squeeze(sum_error(u, g, axes), axis=axes)

    def jvp_error(self, u: float, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """One rounding, and those of a program that adds zeros."""
        return 2 * self.error(u, *ts)


@dataclass(frozen=True)
class BiasAddGrad(Channels, Multilinear):
    """The sum of a tensor over each channel."""

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The sum; that of integers wraps around in their dtype."""
        (g,) = xs
        return np.sum(long(g), axis=self.other_axes(g), dtype=g.dtype if g.dtype.kind in "iu" else None)

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The upstream of its channel, for each element."""
        return (self.spread(np.asarray(g), xs[0]),)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """The error of a sum."""
        axes = self.other_axes(xs[0])
        return np.asarray(np.squeeze(sum_error(u, xs[0], axes), axis=axes))

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        """None."""
        return np.zeros(xs[0].shape)
