"""The incomplete beta function I, and its derivative, of mpfs or of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from tf_opdiff.suites.reference.promises.wide import INF, NAN, mp
from tf_opdiff.suites.reference.special_functions.incomplete_gamma import igamma, igammac


def betainc(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), https://dlmf.nist.gov/8.17; NaN for a <= 0, b <= 0, and x outside of [0, 1]."""
    if a <= 0 or b <= 0 or x < 0 or x > 1:
        return NAN
    if x in (0, 1):
        return x
    if a == INF and b == INF:
        return NAN
    if INF in (a, b):
        return mp.mpf(b == INF)
    if max(a, b) > _HUGE or min(a, b) < _SMALL * min(1, max(a, b)) or max(a, b) < _SMALL:
        return _of_extremes(a, b, x)
    with mp.workprec(mp.prec + max(0, -mp.mag(a)) + max(0, -mp.mag(b))):
        return mp.betainc(a, b, 0, x, regularized=True)


#: Below this part of the other shape, or of 1, mpmath needs many more bits. Only a first term counts in a long double.
_SMALL = 2.0**-90
#: A number that is infinite compared with all others but those near 1 / `_HUGE`.
_HUGE = 2.0**1000


def _of_extremes(a: Any, b: Any, x: Any) -> Any:
    """I where a shape is huge, or far below the other or below 1: the first term, https://dlmf.nist.gov/8.18.E1."""
    if min(a, b) > _HUGE:  # a distribution without width, at a / (a + b)
        return mp.mpf(0.5) * (1 + mp.sign(b * x - a * (1 - x)))
    if b > _HUGE:
        return igamma(a, b * x)
    if a > _HUGE:
        return igammac(b, a * (1 - x))
    if max(a, b) < _SMALL:
        return b / (a + b)
    if a < b:
        return mp.one
    return b * x**a / a * mp.hyp2f1(a, 1, a + 1, x)  # 1 / B(a, b) is b


def beta_density_beyond(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x^(a-1) (1-x)^(b-1) / |B(a, b)|, outside of the domain of I too; NaN where it has no value. NaN^0 is 1."""
    log_beta = special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)
    logs = np.where(a == 1, 0, special.xlogy(a - 1, x)) + np.where(b == 1, 0, special.xlog1py(b - 1, -x))
    return np.exp(logs - log_beta)


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """dI/dx."""
    if a <= 0 or b <= 0 or x < 0 or x > 1 or (a == INF and b == INF):
        return NAN
    if INF in (a, b):
        return mp.zero if 0 < x < 1 else NAN
    if (x == 0 and a < 1) or (x == 1 and b < 1):
        return INF
    return mp.power(x, a - 1) * mp.power(1 - x, b - 1) / mp.beta(a, b)
