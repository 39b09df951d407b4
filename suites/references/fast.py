"""Elementwise functions and their derivatives in float64, vectorised, for arguments that are narrower: what sweeps use.

They stand beside those of `suites.references.elementwise`, which are wide and slow, and are held against them by the
project's tests, and on a sample of every block by a sweep. Squares of float32 numbers are exact in float64. SciPy's
Bessel functions J and Y are good for those of float16: beyond 2^20, they lose their phase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import special

Function = Callable[[np.ndarray], Any]
INF = float("inf")

#: LeakyRelu's default, as the op's attribute holds it: a float32.
_SLOPE = float(np.float32(0.2))
#: Klambauer et al., https://arxiv.org/abs/1706.02515
_ALPHA, _SCALE = 1.67326324235437728481704297, 1.05070098735548049341933498529


def _at(function: Function, points: Mapping[float, float]) -> Function:
    """The same but for single points."""

    def patched(x: np.ndarray) -> Any:
        found = function(x)
        for point, value in points.items():
            found = np.where(x == point, value, found)
        return found

    return patched


def _odd(function: Function) -> Function:
    """The same, less that SciPy forgets the sign of zero."""
    return lambda x: np.copysign(1, x) * function(np.abs(x))


def _cos_square(x: np.ndarray) -> Any:
    """cos(π x² / 2), from the distance to the nearest zero."""
    turn = np.fmod(x * x, 4.0)
    return np.sin(np.pi / 2 * np.where(turn <= 2, 1 - turn, turn - 3))


def _sin_square(x: np.ndarray) -> Any:
    """sin(π x² / 2), from the distance to the nearest zero."""
    turn = np.fmod(x * x, 4.0)
    return np.sin(np.pi / 2 * np.where(turn <= 1, turn, np.where(turn <= 3, 2 - turn, turn - 4)))


def _dawsn_slope(x: np.ndarray) -> Any:
    """1 - 2 x F(x); far out, where that cancels, by the series of https://dlmf.nist.gov/7.12.E1."""
    far, term, total = np.abs(x) > 10, 1.0, -0.0
    for k in range(1, 16):
        term = term * (2 * k - 1) / (2 * x * x)
        total = total - term
    return np.where(far, total, 1 - 2 * x * special.dawsn(np.where(far, 0, x)))


def _far_slope(x: np.ndarray, order: int, sign: int) -> Any:
    """The derivative of exp(-x) I(x) √(2π), or of exp(x) K(x) √(2/π), far out: https://dlmf.nist.gov/10.40."""
    factor, total = 1.0, np.zeros_like(x)
    for k in range(8):
        total = total - factor * (k + 0.5) * x ** (-k - 1.5)
        factor = factor * sign * (4 * order - (2 * k + 1) ** 2) / (8 * (k + 1))
    return total


def _i0e_slope(x: np.ndarray) -> Any:
    size = np.abs(x)
    near = special.i1e(size) - special.i0e(size)
    return np.sign(x) * np.where(size < 500, near, _far_slope(size, 0, -1) / np.sqrt(2 * np.pi))


def _i1e_slope(x: np.ndarray) -> Any:
    size = np.abs(x)
    near = special.i0e(size) - special.i1e(size) - _over(special.i1e, size, 0.5)
    return np.where(size < 500, near, _far_slope(size, 1, -1) / np.sqrt(2 * np.pi))


def _k0e_slope(x: np.ndarray) -> Any:
    near = special.k0e(x) - special.k1e(x)
    return np.where(x > 500, _far_slope(x, 0, 1) * np.sqrt(np.pi / 2), near)


def _k1e_slope(x: np.ndarray) -> Any:
    near = special.k1e(x) * (1 - 1 / x) - special.k0e(x)
    return np.where(x > 500, _far_slope(x, 1, 1) * np.sqrt(np.pi / 2), near)


def _fresnel(part: int) -> Function:
    def integral(x: np.ndarray) -> Any:
        """Of sine or cosine; SciPy leaves away the last wave beyond 36974."""
        wave = _sin_square(x) if part else -_cos_square(x)
        far = 0.5 + np.where(np.isinf(x), 0, wave / (np.pi * x))
        return np.where(x < 30000, special.fresnel(x)[part], far)

    return _odd(integral)


def _over(numerator: Function, x: np.ndarray, at_zero: float) -> Any:
    """numerator(x) / x, and its limit at 0."""
    return np.where(x == 0, at_zero, numerator(x) / np.where(x == 0, 1, x))


def _i1_slope(x: np.ndarray) -> Any:
    i0 = special.i0(x)
    with_ratio = i0 - special.i1(x) / np.where(x == 0, 1, x)
    return np.where(x == 0, 0.5, np.where(np.isinf(x) | np.isinf(i0), np.inf, with_ratio))


def _j1_slope(x: np.ndarray) -> Any:
    return special.j0(x) - _over(special.j1, x, 0.5)


def _logistic_slope(x: np.ndarray) -> Any:
    e = np.exp(-np.abs(x))
    return e / (1 + e) ** 2


def _rsqrt_slope(x: np.ndarray) -> Any:
    root = 1 / np.sqrt(x)
    return -0.5 * root * root * root


def _sech2(x: np.ndarray) -> Any:
    e = np.exp(-2 * np.abs(x))
    return 4 * e / (1 + e) ** 2


def _softplus(x: np.ndarray) -> Any:
    return np.where(x > 0, x, 0) + np.log1p(np.exp(-np.abs(x)))


def _spence_slope(x: np.ndarray) -> Any:
    return np.where(x == 1, -1, np.log(x) / np.where(x == 1, 1, 1 - x))


def _trigamma(x: np.ndarray) -> Any:
    """ψ₁, by reflection left of zero: https://dlmf.nist.gov/5.15.E6."""
    right = x > 0
    mirrored = (np.pi / np.sin(np.pi * (x - np.rint(x)))) ** 2 - special.zeta(2, np.where(right, 1, 1 - x))
    return np.where(right, special.zeta(2, np.where(right, x, 1)), np.where(np.isinf(x), np.nan, mirrored))


#: name: (function, derivative), by the names of `suites.references.elementwise.PAIRS`.
FAST: dict[str, tuple[Function, Function]] = {
    "abs": (np.abs, np.sign),
    "acos": (np.arccos, lambda x: -1 / np.sqrt(1 - x * x)),
    "acosh": (np.arccosh, lambda x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1))),
    "asin": (np.arcsin, lambda x: 1 / np.sqrt(1 - x * x)),
    "asinh": (np.arcsinh, lambda x: 1 / np.sqrt(1 + x * x)),
    "atan": (np.arctan, lambda x: 1 / (1 + x * x)),
    "atanh": (np.arctanh, lambda x: 1 / (1 - x * x)),
    "bessel-i0": (_at(special.i0, {INF: INF, -INF: INF}), _odd(_at(special.i1, {INF: INF}))),
    "bessel-i0e": (special.i0e, _at(_i0e_slope, {0: 0, INF: 0, -INF: 0})),
    "bessel-i1": (_odd(_at(special.i1, {INF: INF})), _i1_slope),
    "bessel-i1e": (_odd(special.i1e), _at(_i1e_slope, {INF: 0, -INF: 0})),
    "bessel-j0": (_at(special.j0, {INF: 0, -INF: 0}), _at(lambda x: -_odd(special.j1)(x), {INF: 0, -INF: 0})),
    "bessel-j1": (_odd(_at(special.j1, {INF: 0})), _at(_j1_slope, {INF: 0, -INF: 0})),
    "bessel-k0": (special.k0, lambda x: -special.k1(x)),
    "bessel-k0e": (special.k0e, _at(_k0e_slope, {0: -INF, INF: -0.0})),
    "bessel-k1": (special.k1, _at(lambda x: -special.k0(x) - special.k1(x) / x, {0: -INF})),
    "bessel-k1e": (special.k1e, _at(_k1e_slope, {0: -INF, INF: -0.0})),
    "bessel-y0": (_at(special.y0, {INF: 0}), _at(lambda x: -special.y1(x), {INF: 0})),
    "bessel-y1": (
        _at(special.y1, {INF: 0}),
        _at(lambda x: special.y0(x) - special.y1(x) / x, {0: INF, INF: 0}),
    ),
    "cos": (np.cos, lambda x: -np.sin(x)),
    "cosh": (np.cosh, np.sinh),
    "dawsn": (special.dawsn, _dawsn_slope),
    "digamma": (special.psi, _trigamma),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(x)), lambda x: np.where(x < 0, np.exp(x), 1)),
    "erf": (special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
    "erfc": (special.erfc, lambda x: -2 / np.sqrt(np.pi) * np.exp(-x * x)),
    "erfinv": (_odd(special.erfinv), lambda x: np.sqrt(np.pi) / 2 * np.exp(special.erfinv(x) ** 2)),
    "exp": (np.exp, np.exp),
    "expint": (lambda x: np.where(x < 0, np.nan, special.expi(x)), lambda x: np.exp(x) / x),
    "expm1": (np.expm1, np.exp),
    "fresnel-cos": (_fresnel(1), _cos_square),
    "fresnel-sin": (_fresnel(0), _sin_square),
    "leaky-relu": (lambda x: np.where(x > 0, x, x * _SLOPE), lambda x: np.where(x > 0, 1, _SLOPE)),
    "lgamma": (_at(special.gammaln, {-INF: INF}), _at(special.psi, {0: np.nan})),
    "log": (np.log, np.reciprocal),
    "log1p": (np.log1p, lambda x: 1 / (1 + x)),
    "ndtri": (special.ndtri, lambda x: np.sqrt(2 * np.pi) * np.exp(special.ndtri(x) ** 2 / 2)),
    "neg": (np.negative, lambda x: np.full_like(x, -1)),
    "reciprocal": (np.reciprocal, lambda x: -1 / (x * x)),
    "relu": (lambda x: np.where(x <= 0, 0, x), lambda x: np.where(x > 0, 1.0, 0.0)),
    "relu6": (lambda x: np.where(x <= 0, 0, np.where(x >= 6, 6, x)), lambda x: ((x > 0) & (x < 6)).astype(float)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), _rsqrt_slope),
    "selu": (
        lambda x: _SCALE * np.where(x > 0, x, _ALPHA * np.expm1(x)),
        lambda x: _SCALE * np.where(x < 0, _ALPHA * np.exp(x), 1),
    ),
    "sigmoid": (special.expit, _logistic_slope),
    "sin": (np.sin, np.cos),
    "sinh": (np.sinh, np.cosh),
    "softplus": (_softplus, special.expit),
    "softsign": (lambda x: x / (1 + np.abs(x)), lambda x: 1 / (1 + np.abs(x)) ** 2),
    "spence": (_at(special.spence, {INF: -INF}), _spence_slope),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "square": (np.square, lambda x: 2 * x),
    "tan": (np.tan, lambda x: 1 / np.cos(x) ** 2),
    "tanh": (np.tanh, _sech2),
}
