"""The gamma function's logarithm and the second derivative of that."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tf_opdiff.suites.reference.promises.wide import INF, mp


def lgamma(x: Any) -> Any:
    """log |Γ(x)|, with poles at the integers that are not positive."""
    return mp.re(mp.loggamma(x)) if x > 0 or x != mp.floor(x) else INF


def trigamma(x: Any) -> Any:
    """ψ₁, by reflection left of zero: https://dlmf.nist.gov/5.15.E6."""
    if x > 0:
        return mp.polygamma(1, x)
    return (mp.pi / mp.sinpi(x)) ** 2 - mp.polygamma(1, 1 - x) if x != mp.floor(x) else INF


def trigamma_float64(x: np.ndarray) -> Any:
    """ψ₁, by reflection left of zero: https://dlmf.nist.gov/5.15.E6."""
    right = x > 0
    mirrored = (np.pi / np.sin(np.pi * (x - np.rint(x)))) ** 2 - special.zeta(2, np.where(right, 1, 1 - x))
    return np.where(right, special.zeta(2, np.where(right, x, 1)), np.where(np.isinf(x), np.nan, mirrored))
