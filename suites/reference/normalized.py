"""Promises of fused normalisations over a batch and of their ops of gradients: see `suites.reference.normalization`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.accumulation import FLOAT32
from tf_opdiff.suites.reference.normalization import Normalization
from tf_opdiff.suites.reference.promise import Promise
from tf_opdiff.suites.reference.reduction import long
from tf_opdiff.suites.reference.running import ROUNDINGS, Running


def exact(function: Callable[..., Any], *xs: np.ndarray) -> Any:
    """The results of a function in long double."""
    return function(*map(long, xs))


def error(function: Callable[..., Any], output: int, u: float, *xs: np.ndarray) -> np.ndarray:
    """The largest error of an output: that of float32 or wider, and one rounding to the dtype.

    Numbers of 16 bits are taken in float32.
    """
    results = function(*(Running.exact(x, ROUNDINGS * min(u, FLOAT32)) for x in xs))
    result = results[output] if isinstance(results, tuple) else results
    return np.asarray(result.error + u * np.abs(result.value))


def _by(i: int, u: float) -> float:
    """The unit round-off of the gradient by input i: vectors are float32, beside tensors of any dtype."""
    return min(u, FLOAT32) if i else u


class OfNormalization(Promise):
    """A promise about a normalisation with these attributes, by a formula that has its results, of long doubles."""

    unsigned_zeros: tuple[str, ...] = ("output", "grad")

    def __init__(self, **attributes: Any) -> None:
        self.of = Normalization(**attributes)

    @abstractmethod
    def formula(self, *xs: Any) -> Any:
        """The results; all but the first are vectors."""

    def f(self, *xs: np.ndarray) -> Any:
        return exact(self.formula, *xs)

    def error(self, u: float, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(error(self.formula, i, _by(i, u), *xs) for i in range(self.bounded))


class Normalized(OfNormalization):
    """The normalised tensor, of a tensor, a scale, an offset, a mean and a variance.

    To TensorFlow, given statistics are constants.
    """

    def formula(self, *xs: Any) -> Any:
        return self.of.f(*xs)

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[Any, ...]:
        return (*exact(self.of.gradients, g, *xs), None, None)

    def jvp(self, ts: Any, *xs: np.ndarray) -> Any:
        return exact(self.of.curved, *_curving(xs[0], ts, xs))[0]

    def hvp(self, g: np.ndarray, ts: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        return (*exact(self.of.curved, *_curving(g, ts, xs))[1:], None, None, None)

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray | float:
        return error(self.of.gradients, i, _by(i, u), g, *xs) if i < 3 else 0.0

    def jvp_error(self, u: float, ts: Any, *xs: np.ndarray) -> np.ndarray:
        return error(self.of.curved, 0, u, *_curving(xs[0], ts, xs))

    def hvp_error(self, i: int, u: float, g: np.ndarray, ts: Any, *xs: np.ndarray) -> np.ndarray | float:
        return error(self.of.curved, i + 1, _by(i, u), *_curving(g, ts, xs)) if i < 2 else 0.0


def _curving(g: np.ndarray, ts: Any, xs: Any) -> tuple[np.ndarray, ...]:
    """The arguments of `Normalization.curved`."""
    x, scale, _, mean, variance = xs
    return (g, x, scale, mean, variance, *ts[:3])


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

    def f(self, *xs: np.ndarray) -> tuple[Any, ...]:
        return _of_dtypes(*super().f(*xs))


class GradientsOfCudnn(Gradients):
    """The same, where the variance of a batch is the inverse of a standard deviation."""

    def f(self, *xs: np.ndarray) -> tuple[Any, ...]:
        return super().f(*self._as_variances(xs))

    def error(self, u: float, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
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

    def vjp(self, g: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        return (*exact(self.of.curved, *xs, *g), None, None)

    def jvp(self, ts: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        return _of_dtypes(*exact(self._moved, *ts, *xs))

    def grad_error(self, i: int, u: float, g: Any, *xs: np.ndarray) -> np.ndarray | float:
        return error(self.of.curved, i, _by(i == 2, u), *xs, *g) if i < 3 else 0.0

    def jvp_error(self, u: float, ts: Any, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(error(self._moved, i, _by(i, u), *ts, *xs) for i in range(3))

    def _moved(self, *arguments: Any) -> tuple[Any, Any, Any]:
        """The derivatives of the three gradients along tangents: five tangents, then the five inputs of the op."""
        t, along, by_scale, *_, g, x, scale, mean, variance = arguments
        first = self.formula(t, x, scale, mean, variance)
        _, second, second_scale = self.of.curved(g, x, scale, mean, variance, along, by_scale, 0 * by_scale)
        return first[0] + second, first[1] + second_scale, first[2]


def _of_dtypes(by_tensor: Any, by_scale: Any, by_offset: Any) -> tuple[Any, Any, Any]:
    """The results of an op of gradients; those by the scale and the offset are float32 beside tensors of any dtype."""
    return by_tensor, by_scale.astype(np.float32), by_offset.astype(np.float32)
