"""Dawson's integral, the Fresnel integrals, and the derivative of Spence's function."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tf_opdiff.suites.reference.promises.float64 import Function, odd
from tf_opdiff.suites.reference.promises.wide import mp


def dawsn(x: Any) -> Any:
    """Dawson's integral, https://dlmf.nist.gov/7.5.E1; far out, by the asymptotic series of https://dlmf.nist.gov/7.12."""
    if abs(x) < 200:
        return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)
    total = term = mp.one
    k = 0
    while abs(term) > mp.eps * total:
        k += 1
        term *= (2 * k - 1) / (2 * x * x)
        total += term
    return total / (2 * x)


def dawsn_slope(x: Any) -> Any:
    """The derivative of Dawson's integral."""
    with mp.workprec(mp.prec + 2 * max(0, mp.mag(x)) if x else mp.prec):  # the terms cancel
        return 1 - 2 * x * dawsn(x)


def dawsn_slope_float64(x: np.ndarray) -> Any:
    """1 - 2 x F(x); far out, where that cancels, by the series of https://dlmf.nist.gov/7.12.E1."""
    far, term, total = np.abs(x) > 10, 1.0, -0.0
    for k in range(1, 16):
        term = term * (2 * k - 1) / (2 * x * x)
        total = total - term
    return np.where(far, total, 1 - 2 * x * special.dawsn(np.where(far, 0, x)))


def cos_square(x: np.ndarray) -> Any:
    """cos(π x² / 2), from the distance to the nearest zero."""
    turn = np.fmod(x * x, 4.0)
    return np.sin(np.pi / 2 * np.where(turn <= 2, 1 - turn, turn - 3))


def sin_square(x: np.ndarray) -> Any:
    """sin(π x² / 2), from the distance to the nearest zero."""
    turn = np.fmod(x * x, 4.0)
    return np.sin(np.pi / 2 * np.where(turn <= 1, turn, np.where(turn <= 3, 2 - turn, turn - 4)))


def fresnel_float64(part: int) -> Function:
    """The Fresnel integral of the sine (part 0) or the cosine (part 1)."""

    def integral(x: np.ndarray) -> Any:
        """The integral right of 0; SciPy leaves out the last wave beyond 36974."""
        wave = sin_square(x) if part else -cos_square(x)
        far = 0.5 + np.where(np.isinf(x), 0, wave / (np.pi * x))
        return np.where(x < 30000, special.fresnel(x)[part], far)

    return odd(integral)


def spence_slope_float64(x: np.ndarray) -> Any:
    """The derivative of Spence's function."""
    return np.where(x == 1, -1, np.log(x) / np.where(x == 1, 1, 1 - x))
