"""Promises of fused normalisations over a batch and of their ops of gradients: see
`suites.reference.neural_networks.normalization`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tf_opdiff.suites.reference.neural_networks.normalization import Normalization
from tf_opdiff.suites.reference.promises.accumulation import FLOAT32
from tf_opdiff.suites.reference.promises.analysed import Analysed
from tf_opdiff.suites.reference.promises.running import ROUNDINGS, Running
from tf_opdiff.suites.reference.reductions.reduction import long


class OfNormalization(Analysed):
    """A promise about a normalisation with these attributes.

    Numbers of 16 bits are taken in float32. All inputs and results but the first are vectors of float32, next to a
    tensor of any dtype.
    """

    unsigned_zeros: tuple[str, ...] = ("output", "grad")
    alternatives = None  # type: ignore[assignment]

    def __init__(self, **attributes: Any) -> None:
        self.of = Normalization(**attributes)

    def running(self, u: float, x: np.ndarray) -> Running:
        return Running.exact(x, ROUNDINGS * min(u, FLOAT32))

    def error_of(self, u: float, y: Running, n: int) -> np.ndarray:
        return np.asarray(y.error + (min(u, FLOAT32) if n else u) * np.abs(y.value))


class Normalized(OfNormalization):
    """The normalised tensor, of a tensor, a scale, an offset, a mean and a variance.

    To TensorFlow, given statistics are constants.
    """

    def formula(self, *xs: Any) -> Any:
        return self.of.f(*xs)

    def back(self, g: Any, *xs: Any) -> tuple[Any, ...]:
        return (*self.of.gradients(g, *xs), None, None)

    def along(self, ts: Any, *xs: Any) -> Any:
        x, scale, _, mean, variance = xs
        return self.of.curved(x, x, scale, mean, variance, *ts[:3])[0]

    def curved(self, g: Any, ts: Any, *xs: Any) -> tuple[Any, ...]:
        x, scale, _, mean, variance = xs
        return (*self.of.curved(g, x, scale, mean, variance, *ts[:3])[1:], None, None, None)


class Statistics(OfNormalization):
    """The means and variances that a normalisation returns."""

    bounded = 2

    def formula(self, *xs: Any) -> Any:
        return self.of.statistics(*xs)


class Gradients(OfNormalization):
    """The op of gradients, of an upstream, a tensor, a scale, and the mean and the variance of the forward op."""

    bounded = 3
    unsigned_zeros = ("output",)

    def formula(self, *xs: Any) -> Any:
        return self.of.backward(*xs)

    def f(self, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        return _of_dtypes(*super().f(*xs))


class GradientsOfCudnn(Gradients):
    """The gradients where the op takes the inverse of a standard deviation in place of the variance of a batch."""

    def f(self, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        return super().f(*self._as_variances(xs))

    def error(self, u: float, *xs: np.ndarray, **attrs: Any) -> Any:
        return super().error(u, *self._as_variances(xs))

    def _as_variances(self, xs: Any) -> Any:
        return (*xs[:4], 1 / long(xs[4]) ** 2 - self.of.epsilon) if self.of.is_training else xs


class GradientsOfBatch(Gradients):
    """The op of gradients as a function that has gradients, with the statistics of the forward op in training.

    No gradient of the statistics is promised: TensorFlow differentiates those of a batch as functions of the tensor,
    and has given ones as constants.
    """

    def formula(self, *xs: Any) -> Any:
        g, x, scale, mean, variance = xs
        return self.of.gradients(g, x, scale, None, mean, variance)

    def back(self, g: Any, *xs: Any) -> tuple[Any, ...]:
        return (*self.of.curved(*xs, *g), None, None)

    def grad_error(self, i: int, u: float, g: Any, *xs: np.ndarray, **attrs: Any) -> Any:
        by = self.back(tuple(self._all(u, g)), *self._all(u, xs))[i]  # that by the second input is a tensor as well
        return 0.0 if by is None else self.error_of(u, by, int(i == 2))

    def jvp(self, ts: Any, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        return _of_dtypes(*super().jvp(ts, *xs))

    def along(self, ts: Any, *xs: Any) -> tuple[Any, Any, Any]:
        t, along, by_scale, *_ = ts
        g, x, scale, mean, variance = xs
        first = self.formula(t, x, scale, mean, variance)
        _, second, second_scale = self.of.curved(g, x, scale, mean, variance, along, by_scale, 0 * by_scale)
        return first[0] + second, first[1] + second_scale, first[2]


def _of_dtypes(by_tensor: Any, by_scale: Any, by_offset: Any) -> tuple[Any, Any, Any]:
    """The results of an op of gradients; those by the scale and the offset are float32 for tensors of all dtypes."""
    return by_tensor, by_scale.astype(np.float32), by_offset.astype(np.float32)
