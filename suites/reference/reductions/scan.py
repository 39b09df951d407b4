"""Scans: cumulative sums, products and logarithms of sums, in long double, with derivatives and errors.

Every function takes the axis, whether an element leaves itself out (`exclusive`), and whether the scan starts at the
end (`reverse`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import accumulator, gamma, sizes, sums_exactly
from tf_opdiff.suites.reference.reductions.reduction import long


def _accumulated(
    ufunc: np.ufunc, nothing: float, x: np.ndarray, axis: int, *, exclusive: bool, reverse: bool
) -> np.ndarray:
    """The ufunc of each element with the result before it; `nothing` is the result of no element."""
    rows = np.moveaxis(x, axis, -1)
    rows = rows[..., ::-1] if reverse else rows
    y = ufunc.accumulate(rows, axis=-1, dtype=x.dtype)
    if exclusive:
        y = np.concatenate([np.full_like(rows[..., :1], nothing), y[..., :-1]], axis=-1)
    return np.moveaxis(y[..., ::-1] if reverse else y, -1, axis)


def _places(n: int, *, exclusive: bool, reverse: bool) -> np.ndarray:
    """Bool matrix: whether element i counts for result j, at [i, j]."""
    counts = np.triu(np.ones((n, n), bool), 1 if exclusive else 0)
    return counts[::-1, ::-1] if reverse else counts


def _along(function: Callable[..., Any], axis: int, *arrays: np.ndarray) -> np.ndarray:
    """A function of rows, along this axis of the arrays."""
    return np.moveaxis(function(*(np.moveaxis(long(x), axis, -1) for x in arrays)), -1, axis)


def _weighted(weights: np.ndarray, slopes: np.ndarray, axis: int) -> np.ndarray:
    """The sum of weights times slopes along an axis; a slope of 0 leaves out its weight, an infinity or NaN too."""
    return np.asarray(np.sum(np.where(slopes == 0, 0, weights * slopes), axis=axis))


def _vjp(slopes: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Σ_j g[j] s[i, j], with conjugate slopes of complex numbers: slopes(rows, **view) → s[..., i, j]; x is finite."""

    def vjp(g: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
        return _along(lambda g, x: _weighted(g[..., None, :], np.conj(slopes(x, **view)), -1), axis, g, x)

    return vjp


def _jvp(slopes: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """Σ_i t[i] s[i, j], with the slopes of `_vjp`."""

    def jvp(t: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
        return _along(lambda t, x: _weighted(t[..., :, None], slopes(x, **view), -2), axis, t, x)

    return jvp


def total(x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """Cumulative sums; those of integers wrap around in their dtype."""
    return _accumulated(np.add, 0, long(x), axis, **view)


def total_vjp(g: np.ndarray, x: np.ndarray, axis: int, *, exclusive: bool, reverse: bool) -> np.ndarray:
    """The cumulative sums of the upstream, from the other end."""
    return total(g, axis, exclusive=exclusive, reverse=not reverse)


def total_error(u: float, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """γ_{n-1} Σ|x| of n terms (Higham, section 4.2), 0 where all sums are exact; then one rounding."""
    wide = accumulator(u, x.shape[axis])
    roundings = np.maximum(total(np.ones(x.shape), axis, **view) - 1, 0)
    size, value = total(sizes(x), axis, **view), sizes(total(x, axis, **view))
    error = np.where(sums_exactly(x, axis, wide), 0.0, gamma(roundings, wide) * size)
    return np.asarray(error + u * value, np.float64)


def product(x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """Cumulative products; those of integers wrap around in their dtype."""
    return _accumulated(np.multiply, 1, long(x), axis, **view)


def product_error(u: float, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """γ_n of n products (Higham, section 3.1), four times as many of complex numbers; powers of two are exact."""
    size = np.abs(x)
    rough = (np.frexp(np.where(np.isfinite(size), size, 1.0))[0] != 0.5) & (size != 0)
    per_product = 4 if x.dtype.kind == "c" else 1
    roundings = per_product * np.maximum(total(rough.astype(np.float64), axis, **view) - 1, 0)
    return np.asarray(gamma(roundings, u) * np.abs(product(x, axis, **view)), np.float64)


def _without(x: np.ndarray, left_out: np.ndarray, **view: bool) -> np.ndarray:
    """The products y[j] of rows without the factors k for which left_out[..., k] holds, at [..., j]."""
    factors = np.where(_places(x.shape[-1], **view) & ~left_out[..., :, None], x[..., :, None], x.dtype.type(1))
    return np.asarray(np.prod(factors, axis=-2))


def _slopes(x: np.ndarray, **view: bool) -> np.ndarray:
    """∂y[j] / ∂x[i] of cumulative products of rows, at [..., i, j]: the product of all other factors of y[j]."""
    n = x.shape[-1]
    products = _without(x[..., None, :], np.eye(n, dtype=bool), **view)
    return np.where(_places(n, **view), products, x.dtype.type(0))


def _curvatures(x: np.ndarray, **view: bool) -> np.ndarray:
    """∂²y[j] / ∂x[i] ∂x[k] of cumulative products of rows, at [..., i, k, j]."""
    n = x.shape[-1]
    same, counts = np.eye(n, dtype=bool), _places(n, **view)
    products = _without(x[..., None, None, :], same[:, None] | same[None, :], **view)
    return np.where(counts[:, None, :] & counts[None, :, :] & ~same[:, :, None], products, x.dtype.type(0))


product_vjp, product_jvp = _vjp(_slopes), _jvp(_slopes)


def product_vjp_error(u: float, g: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """n factors, a product with the upstream, a sum of n, and a quotient; four roundings of each complex product."""
    n = (8 if x.dtype.kind == "c" else 2) * (x.shape[axis] + 1)
    return np.asarray(gamma(n, u) * product_vjp(np.abs(g), np.abs(x), axis, **view), np.float64)


def product_jvp_error(u: float, t: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """A quotient, n factors, and a sum of n."""
    size = product_jvp(np.abs(t), np.abs(x), axis, **view)
    return np.asarray(gamma(2 * (x.shape[axis] + 1), u) * size, np.float64)


def product_hvp(g: np.ndarray, t: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> Any:
    """Σ_j Σ_k g[j] t[k] ∂²y[j] / ∂x[i] ∂x[k]."""

    def curved(g: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.einsum("...j,...k,...ikj->...i", g, t, _curvatures(x, **view)))

    return _along(curved, axis, g, t, x)


def product_hvp_error(u: float, g: np.ndarray, t: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """4 n + 8 roundings of all terms, and of those of k = i, which TensorFlow adds and takes away again."""
    g, t, x = np.abs(long(g)), np.abs(long(t)), np.abs(long(x))
    size = product_hvp(g, t, x, axis, **view) + 2 * product_vjp(g, x, axis, **view) * t / np.where(x == 0, 1, x)
    return np.asarray(gamma(4 * x.shape[axis] + 8, u) * size, np.float64)


def log_sum(x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """Cumulative logarithms of sums of exponentials; -infinity of no term."""
    return _accumulated(np.logaddexp, -np.inf, long(x), axis, **view)


def log_sum_error(u: float, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """n steps, each with the roundings of its value and of a logarithm; none if the largest term is the sum.

    A step takes over the error of the one before it in part only: its derivative is at most 1.
    """
    y, top = log_sum(x, axis, **view), _accumulated(np.maximum, -np.inf, long(x), axis, **view)
    size = np.where(np.isfinite(y), np.abs(y), 0)
    beside = np.where(np.isfinite(y), y - top, 0)
    steps = total(np.ones(x.shape), axis, **view)
    wide = accumulator(u, x.shape[axis])
    return np.asarray(np.where(beside < u / 8, beside, wide * steps * (3 + size) + u * size), np.float64)


def _shares(x: np.ndarray, **view: bool) -> np.ndarray:
    """∂y[j] / ∂x[i] = exp(x[i] - y[j]) of rows, at [..., i, j]."""
    low = _finite(log_sum(x, -1, **view))
    return np.where(_places(x.shape[-1], **view), np.exp(x[..., :, None] - low[..., None, :]), 0)


def _rough_shares(x: np.ndarray, **view: bool) -> np.ndarray:
    """The absolute errors of the shares, in units: those of their exponents, which are logarithms of sums."""
    low = _finite(log_sum(x, -1, **view))
    exponents = np.abs(x)[..., :, None] + np.abs(low)[..., None, :]
    return np.asarray(_shares(x, **view) * (5 * x.shape[-1] + 8 * exponents))


def _finite(y: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(y), y, 0)


log_sum_vjp, log_sum_jvp = _vjp(_shares), _jvp(_shares)


def log_sum_vjp_error(u: float, g: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """The errors of the shares."""
    return np.asarray(u * _vjp(_rough_shares)(np.abs(long(g)), x, axis, **view), np.float64)


def log_sum_jvp_error(u: float, t: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """As that of the gradient."""
    return np.asarray(u * _jvp(_rough_shares)(np.abs(long(t)), x, axis, **view), np.float64)


def log_sum_hvp(g: np.ndarray, t: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> Any:
    """Σ_j g[j] p[i, j] (t[i] - Σ_k t[k] p[k, j]), with p[i, j] = exp(x[i] - y[j])."""

    def curved(g: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        shares = _shares(x, **view)
        mean = _weighted(t[..., :, None], shares, -2)[..., None, :]
        return np.asarray(np.sum(g[..., None, :] * shares * (t[..., :, None] - mean), axis=-1))

    return _along(curved, axis, g, t, x)


def log_sum_hvp_error(u: float, g: np.ndarray, t: np.ndarray, x: np.ndarray, axis: int, **view: bool) -> np.ndarray:
    """Both terms with the errors of two shares."""

    def curved(g: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
        shares = _shares(x, **view)
        mean = _weighted(np.abs(t)[..., :, None], shares, -2)[..., None, :]
        terms = np.abs(g)[..., None, :] * 2 * _rough_shares(x, **view) * (np.abs(t)[..., :, None] + mean)
        return np.asarray(np.sum(terms, axis=-1))

    return np.asarray(u * _along(curved, axis, g, t, x), np.float64)
