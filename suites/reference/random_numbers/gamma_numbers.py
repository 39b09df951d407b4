"""Gamma numbers: their means, the derivatives of the numbers by the shape α, and how far these scatter.

A number y is a function of α and of a random u, P(α, y) = u, with the regularised incomplete gamma function P. Its
derivative by α at a fixed u has the mean dE[y]/dα: M. Figurnov, S. Mohamed, A. Mnih, Implicit Reparameterization
Gradients, https://arxiv.org/abs/1805.08498.
"""

from __future__ import annotations

import numpy as np
from scipy import special

#: Points in (0, 1) that stand for all u.
_POINTS = (np.arange(4096) + 0.5) / 4096


def means(alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The means of y and of log y: α and ψ(α)."""
    return alpha, special.digamma(alpha)


def slopes(alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives of both means by α: 1 and ψ'(α)."""
    return np.ones(alpha.shape), special.polygamma(1, alpha)


def curvature(alpha: np.ndarray) -> np.ndarray:
    """The second derivative of the mean of log y by α: ψ''(α). That of the mean of y is 0."""
    return np.asarray(special.polygamma(2, alpha))


def deviations(alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The standard deviations of y and of log y: √α and √ψ'(α)."""
    return np.sqrt(alpha), np.sqrt(special.polygamma(1, alpha))


def slopes_of_numbers(alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives of y and of log y by α at points u, of shape (shapes, points), from differences."""
    step = 1e-4 * alpha
    low, y, high = (special.gammaincinv(a[:, None], _POINTS) for a in (alpha - step, alpha, alpha + step))
    slope = (high - low) / (2 * step[:, None])
    return slope, slope / y


def slope_deviations(alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The standard deviations of the derivatives of y and of log y by α."""
    of_number, of_logarithm = (np.std(slope, axis=1) for slope in slopes_of_numbers(alpha))
    return of_number, of_logarithm
