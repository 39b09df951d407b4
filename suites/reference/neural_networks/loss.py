"""Losses: cross entropy of softmax, and half of a sum of squares, in long double, with derivatives and errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.neural_networks.softmax import (
    log_softmax,
    log_softmax_error,
    log_softmax_vjp,
    log_softmax_vjp_error,
    softmax,
    softmax_vjp,
    softmax_vjp_error,
    units,
)
from tf_opdiff.suites.reference.promises.accumulation import accumulator, gamma, sums_exactly
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.reductions.reduction import long


def entropy(x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The loss -Σ z log p of each row, and its gradient p - z. A label of 0 counts for nothing."""
    terms = np.where(z == 0, 0, long(z) * log_softmax(x))
    return np.asarray(-np.sum(terms, axis=-1)), np.asarray(softmax(x) - long(z))


def entropy_vjp(g: np.ndarray, x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients by logits and by labels, which are distributions."""
    g = long(g)[..., None]
    return g * (softmax(x) - long(z)), -g * log_softmax(x)


def entropy_error(u: float, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The errors of the logarithms, and a sum of n products."""
    n, size = x.shape[-1], np.abs(log_softmax(x)).astype(np.float64)
    terms = np.abs(z) * (log_softmax_error(u, x) + u * n * size * (n > 1))
    return np.asarray(np.sum(np.where(z == 0, 0, terms), axis=-1))


def backprop_error(u: float, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The errors of the shares and of a difference, and the product with an upstream."""
    p = softmax(x).astype(np.float64)
    return u * ((units(u, x) + 2) * p + 2 * np.abs(p - z))


def one_hot(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Rows with a 1 in the place of the label; rows of zeros for labels out of range."""
    return (np.arange(x.shape[-1]) == labels[..., None]).astype(np.float64)


class CrossEntropy(Promise):
    """The loss of each row of logits and of labels, which are distributions; both are broadcast together."""

    def labels(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The labels as distributions."""
        return z

    def f(self, x: np.ndarray, z: np.ndarray) -> Any:
        return entropy(*self._both(x, z))[0]

    def vjp(self, g: np.ndarray, x: np.ndarray, z: np.ndarray) -> tuple[Any, ...]:
        by_logits, by_labels = entropy_vjp(g, *self._both(x, z))
        return unbroadcast(by_logits, x.shape), unbroadcast(by_labels, z.shape)

    def jvp(self, ts: Any, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Σ t (p - z) - Σ s log p along the tangents t of the logits and s of the labels."""
        (t, s), (x, z) = map(long, self._tangents(ts)), self._both(x, z)
        return np.asarray(np.sum(t * (softmax(x) - long(z)) - s * log_softmax(x), axis=-1))

    def hvp(self, g: np.ndarray, ts: Any, x: np.ndarray, z: np.ndarray) -> tuple[Any, ...]:
        """The derivatives of g (p - z) and -g log p along the tangents, by logits and by labels."""
        g, (t, s), (x, _) = long(g)[..., None], map(long, self._tangents(ts)), self._both(x, z)
        return softmax_vjp(g * t, x) - log_softmax_vjp(g * s, x), -g * t

    def error(self, u: float, x: np.ndarray, z: np.ndarray) -> Any:
        return entropy_error(u, *self._both(x, z))

    def grad_error(self, i: int, u: float, g: np.ndarray, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The errors of the terms, and of a product, and those of their sum if an input is broadcast."""
        both, shape = self._both(x, z), (x, z)[i].shape
        size = np.abs(log_softmax(both[0])).astype(np.float64)
        own = log_softmax_error(u, both[0]) + 2 * u * size if i else backprop_error(u, *both)
        own = np.abs(g)[..., None] * own
        if own.shape == shape:
            return own
        terms = np.abs(entropy_vjp(g, *both)[i]).astype(np.float64)
        return unbroadcast(own + u * (terms.size // max(int(np.prod(shape)), 1) - 1) * terms, shape)

    def jvp_error(self, u: float, ts: Any, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The errors of both gradients, and two sums of n products."""
        (t, s), (x, z) = map(np.abs, self._tangents(ts)), self._both(x, z)
        of_logits = backprop_error(u, x, z) + u * x.shape[-1] * np.abs(softmax(x).astype(np.float64) - z)
        of_labels = log_softmax_error(u, x) + u * (x.shape[-1] + 2) * np.abs(log_softmax(x)).astype(np.float64)
        return np.asarray(np.sum(t * of_logits + s * of_labels, axis=-1))

    def hvp_error(self, i: int, u: float, g: np.ndarray, ts: Any, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """By logits: the errors of the gradients of a softmax and of its logarithm, and of their sum."""
        if i:
            return u * np.abs(g[..., None] * ts[0])
        g, (t, s), (x, _) = np.abs(g)[..., None], map(np.abs, self._tangents(ts)), self._both(x, z)
        total = softmax_vjp(g * t, x) + log_softmax_vjp(g * s, x)
        rounded = softmax_vjp_error(u, g * t, x) + log_softmax_vjp_error(u, g * s, x)
        return np.asarray(rounded + u * np.abs(total).astype(np.float64))

    def _both(self, x: np.ndarray, z: np.ndarray) -> list[np.ndarray]:
        return [*np.broadcast_arrays(x, self.labels(x, z))]

    def _tangents(self, ts: Any) -> Any:
        return ts


class SparseCrossEntropy(CrossEntropy):
    """The loss of each row of logits and the number of its class."""

    def labels(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        return one_hot(x, z)

    def vjp(self, g: np.ndarray, x: np.ndarray, z: np.ndarray) -> tuple[Any, ...]:
        return entropy_vjp(g, *self._both(x, z))[0], None

    def hvp(self, g: np.ndarray, ts: Any, x: np.ndarray, z: np.ndarray) -> tuple[Any, ...]:
        return super().hvp(g, ts, x, z)[0], None

    def grad_error(self, i: int, u: float, g: np.ndarray, x: np.ndarray, z: np.ndarray) -> Any:
        return 0.0 if i else super().grad_error(i, u, g, x, z)

    def hvp_error(self, i: int, u: float, g: np.ndarray, ts: Any, x: np.ndarray, z: np.ndarray) -> Any:
        return 0.0 if i else super().hvp_error(i, u, g, ts, x, z)

    def _tangents(self, ts: Any) -> Any:
        return ts[0], 0 * ts[0]


class LossAndGradient(Promise):
    """Both results of the ops: the loss, and its gradient by logits."""

    bounded = 2

    def __init__(self, of: CrossEntropy) -> None:
        self._of = of

    def f(self, x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return entropy(*self._of._both(x, z))

    def error(self, u: float, x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        both = self._of._both(x, z)
        return entropy_error(u, *both), backprop_error(u, *both)

    def lost(self, x: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The results with NaN in the rows of labels out of range."""
        lost = (labels < 0) | (labels >= x.shape[-1])
        loss, gradient = self.f(x, labels)
        return np.where(lost, np.nan, loss), np.where(lost[..., None], np.nan, gradient)


def half_squares(x: np.ndarray) -> np.ndarray:
    """Σ x² / 2, a scalar."""
    return np.asarray(np.sum(long(x) ** 2) / 2)


def half_squares_error(u: float, x: np.ndarray) -> np.ndarray:
    """γ_n of a sum of n rounded squares, 0 where all sums are exact; then one rounding.

    Nothing cancels in a sum of squares, so that half as many terms as of other sums are short.
    """
    wide, axis = accumulator(u, 2 * x.size), tuple(range(x.ndim))
    loss = half_squares(x).astype(np.float64)
    exact = np.squeeze(sums_exactly(x * x, axis, wide)) if x.size else True
    return np.asarray(np.where(exact, 0.0, gamma(x.size + 1, wide) * loss) + u * loss)


def half_squares_vjp(g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """g x."""
    return long(g) * long(x)


def half_squares_jvp(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Σ t x."""
    return np.asarray(np.sum(long(t) * long(x)))


def half_squares_jvp_error(u: float, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """γ_n of a sum of n rounded products."""
    wide = accumulator(u, x.size + 2)
    terms = np.sum(np.abs(t * x))
    return np.asarray((gamma(x.size + 2, wide) + 2 * u) * terms)


def half_squares_hvp(g: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """g t."""
    return long(g) * long(t)
