"""Losses: cross entropy of softmax, and half of a sum of squares, in long double, with derivatives and errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tf_opdiff.suites.reference.accumulation import accumulator, gamma, sums_exactly
from tf_opdiff.suites.reference.reduction import long
from tf_opdiff.suites.reference.softmax import log_softmax, log_softmax_error, softmax, units


def entropy(x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The loss -Σ z log p of each row, and its gradient p - z. A label of 0 counts for nothing."""
    terms = np.where(z == 0, 0, long(z) * log_softmax(x))
    return np.asarray(-np.sum(terms, axis=-1)), np.asarray(softmax(x) - long(z))


def entropy_vjp(g: np.ndarray, x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients by logits and by labels, which are distributions."""
    g = long(g)[..., None]
    return g * (softmax(x) - long(z)), -g * log_softmax(x)


def entropy_error(u: float, gs: Any, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The errors of the logarithms, and a sum of n products."""
    n, size = x.shape[-1], np.abs(log_softmax(x)).astype(np.float64)
    terms = np.abs(z) * (log_softmax_error(u, x) + u * n * size * (n > 1))
    return np.asarray(np.sum(np.where(z == 0, 0, terms), axis=-1))


def backprop_error(u: float, gs: Any, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The errors of the shares and of a difference, and the product with an upstream."""
    p = softmax(x).astype(np.float64)
    return u * ((units(x) + 2) * p + 2 * np.abs(p - z))


def labels_error(u: float, g: np.ndarray, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The errors of the logarithms, and one product."""
    size = np.abs(log_softmax(x)).astype(np.float64)
    return np.abs(g)[..., None] * (log_softmax_error(u, x) + 2 * u * size)


def one_hot(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Rows with a 1 in the place of the label; rows of zeros for labels out of range."""
    return (np.arange(x.shape[-1]) == labels[..., None]).astype(np.float64)


def lost_rows(x: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The loss and its gradient, with NaN in the rows of labels out of range."""
    lost = (labels < 0) | (labels >= x.shape[-1])
    loss, gradient = entropy(x, one_hot(x, labels))
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
