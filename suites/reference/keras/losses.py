"""Losses of Keras, one number for each sample, by their documentation: https://keras.io/api/losses/.

They are analytic near each input, and take complex numbers: see `suites.reference.promises.conditioned`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: The fuzz factor of Keras, which keeps logarithms finite: https://keras.io/api/utils/config_utils/#epsilon-function.
FUZZ = 1e-7


def size(x: Any) -> Any:
    """|x| of real numbers that may carry a complex step."""
    return np.where(x.real < 0, -x, x)


def positive_part(x: Any) -> Any:
    """x where it is positive, else 0."""
    return np.where(x.real > 0, x, 0)


def mean(x: Any) -> Any:
    """The mean over the last axis."""
    return np.mean(x, axis=-1)


def unit(x: Any) -> Any:
    """Each row, divided by its length."""
    return x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True))


def shares(x: Any) -> Any:
    """The softmax over the last axis."""
    e = np.exp(x)
    return e / np.sum(e, axis=-1, keepdims=True)


def huber(t: Any, p: Any) -> Any:
    """With delta = 2."""
    e = size(t - p)
    return mean(np.where(e.real <= 2, e * e / 2, 2 * e - 2))


def log_cosh(t: Any, p: Any) -> Any:
    """The mean of the logarithms of the hyperbolic cosines of the errors."""
    return mean(np.log(np.cosh(p - t)))


def log_cosh_by_float32(t: Any, p: Any) -> Any:
    """The logarithm of the hyperbolic cosine as x + log(1 + e^-2x) - log(2), with log(2) in float32."""
    return log_cosh(t, p) + (np.log(np.longdouble(2)) - np.float32(np.log(2)))


def binary(t: Any, p: Any) -> Any:
    """The cross-entropy of each pair of numbers."""
    return -t * np.log(p) - (1 - t) * np.log(1 - p)


def smooth(t: Any, to: Any) -> Any:
    """Labels, a quarter of which is spread over all classes."""
    return 0.75 * t + 0.25 * to


def focal(t: Any, p: Any) -> Any:
    """The binary cross-entropy, times (1 - p_t)^2: https://arxiv.org/abs/1708.02002."""
    return (1 - t * p - (1 - t) * (1 - p)) ** 2 * binary(t, p)


def categorical_focal(t: Any, p: Any) -> Any:
    """With alpha = 1/4 and gamma = 2."""
    p = p / np.sum(p, axis=-1, keepdims=True)
    return np.sum(-0.25 * (1 - p) ** 2 * t * np.log(p), axis=-1)


def generalized(t: Any, p: Any) -> Any:
    """https://arxiv.org/abs/1805.07836, with q = 1/2."""
    return 2 * (1 - np.sqrt(p[np.arange(len(t)), t]))


def hinge(t: Any, p: Any) -> Any:
    """Targets of 0 and 1 stand for -1 and 1."""
    t = np.where(np.all(np.isin(t.real, (0, 1))), 2 * t - 1, t)
    return positive_part(1 - t * p)


def categorical_hinge(t: Any, p: Any) -> Any:
    """The best prediction of a wrong class, less that of the right one, and 1."""
    return positive_part(np.max((1 - t) * p, axis=-1) - np.sum(t * p, axis=-1) + 1)


def circle(t: Any, p: Any) -> Any:
    """https://arxiv.org/abs/2002.10857, with gamma = 2, margin = 1/4, and pairs of two samples only."""
    likeness = p @ p.T
    alike = t[:, None] == t
    by_pair = np.where(
        alike,
        -2 * positive_part(1.25 - likeness) * (likeness - 0.75),
        2 * positive_part(likeness + 0.25) * (likeness - 0.25),
    )
    sums = [np.sum(np.exp(by_pair) * kind, axis=1) for kind in (alike & ~np.eye(len(t), dtype=bool), ~alike)]
    return np.log(1 + sums[0] * sums[1])
