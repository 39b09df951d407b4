"""Reductions: references in long double, with their derivatives, for any axes.

Every function keeps the reduced axes with size 1; `suites.forms.reductions.reduction` drops them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import (
    Axis,
    accumulator,
    axes,
    count,
    gamma,
    sizes,
    sum_error,
)


def long(x: np.ndarray) -> np.ndarray:
    """An array in long double, complex numbers in two of them, integers and booleans unchanged."""
    if x.dtype.kind in "iub":
        return x
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def total(x: np.ndarray, axis: Axis) -> np.ndarray:
    """The sum; that of integers wraps around in their dtype."""
    dtype = x.dtype if x.dtype.kind in "iu" else None
    return np.asarray(np.sum(long(x), axis=axes(axis, x.ndim), dtype=dtype, keepdims=True))


def mean(x: np.ndarray, axis: Axis) -> np.ndarray:
    """The mean; NaN of no floats."""
    return np.asarray(total(x, axis) / np.longdouble(count(x, axis)))


def integer_mean(x: np.ndarray, axis: Axis, *, wraps: bool = False) -> np.ndarray:
    """The quotient of the sum and the number of elements, without its fraction.

    The sum is exact; with `wraps`, it wraps around in the dtype of x.
    """
    sums = np.sum(x.astype(object), axis=axes(axis, x.ndim), keepdims=True)
    sums = np.sum(x, axis=axes(axis, x.ndim), keepdims=True, dtype=x.dtype).astype(object) if wraps else sums
    n = count(x, axis)
    return np.asarray(np.vectorize(lambda s: abs(s) // n * (1 if s > 0 else -1), otypes=[x.dtype])(sums))


def spread(g: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The gradient of a sum: the upstream, at every element."""
    return np.broadcast_to(g, x.shape)


def mean_vjp_error(u: float, g: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """Two roundings: a program may multiply by the rounded reciprocal of the number of elements."""
    return np.asarray(gamma(2, u) * np.abs(shared(g, x, axis)).astype(np.float64))


def mean_jvp_error(u: float, t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The error of a sum of n quotients, each with two roundings."""
    return sum_error(u, t / max(count(x, axis), 1), axis, terms=count(x, axis) + 3) + 2 * u * sizes(
        mean(t, axis).astype(np.float64)
    )


def shared(g: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The gradient of a mean: the upstream divided by the number of elements."""
    return np.broadcast_to(long(g) / np.longdouble(max(count(x, axis), 1)), x.shape)


def mean_error(u: float, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The error of a sum divided by the number of elements; the quotient is rounded once more."""
    return (sum_error(u, x, axis) + u * sizes(total(x, axis)).astype(np.float64)) / max(count(x, axis), 1)


def norm(x: np.ndarray, axis: Axis) -> np.ndarray:
    """The root of the sum of the squares of the sizes; complex numbers have a complex norm."""
    y = np.sqrt(total(np.abs(long(x)) ** 2, axis))
    return y.astype(np.clongdouble) if x.dtype.kind == "c" else y


def integer_norm(x: np.ndarray, axis: Axis) -> np.ndarray:
    """The norm without its fraction, of integers whose squares have a sum within range."""
    squares = np.sum(x.astype(np.int64) ** 2, axis=axes(axis, x.ndim), keepdims=True)
    return np.asarray(np.floor(np.sqrt(squares.astype(np.longdouble))).astype(x.dtype))


def norm_error(u: float, x: np.ndarray, axis: Axis) -> np.ndarray:
    """Half of the relative error of a sum of n rounded squares, and the roundings of the root and the result."""
    y = np.abs(norm(x, axis)).astype(np.float64)
    return np.asarray((gamma(count(x, axis) + 1, accumulator(u, count(x, axis))) / 2 + 2 * u) * y)


def norm_vjp(g: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The upstream times x / |x|; at zero, the subgradient 0."""
    y = norm(x, axis)
    return np.where(y == 0, 0 * long(g) * np.ones_like(x), long(g) * long(x) / np.where(y == 0, 1, y))


def norm_vjp_error(u: float, g: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The relative error of the norm, and three roundings."""
    relative = gamma(count(x, axis) + 1, accumulator(u, count(x, axis))) / 2 + 6 * u
    return np.asarray(relative * np.abs(norm_vjp(g, x, axis)).astype(np.float64))


def norm_jvp(t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The tangent's part along x."""
    return total(long(t) * long(x), axis) / norm(x, axis)


def norm_jvp_error(u: float, t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """A sum of n products of rounded quotients."""
    terms = total(np.abs(long(t) * long(x)), axis) / norm(x, axis)
    return np.asarray(gamma(2 * count(x, axis) + 10, u) * terms.astype(np.float64))


def norm_hvp(g: np.ndarray, t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """g (t - x ⟨x, t⟩ / |x|²) / |x|."""
    y = norm(x, axis)
    return long(g) * (long(t) / y - long(x) * total(long(x) * long(t), axis) / y**3)


def norm_hvp_error(u: float, g: np.ndarray, t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The sizes of both terms, whose sums have n terms."""
    y, g, t, x = norm(x, axis), np.abs(long(g)), np.abs(long(t)), np.abs(long(x))
    terms = g * (t / y + x * total(x * t, axis) / y**3)
    return np.asarray(gamma(count(x, axis) + 8, u) * terms.astype(np.float64))


def largest(x: np.ndarray, axis: Axis) -> np.ndarray:
    """The largest element, NaN if any is NaN; of no element, -infinity or the least integer."""
    return _extreme(np.max, x, axis, -1)


def smallest(x: np.ndarray, axis: Axis) -> np.ndarray:
    """The smallest element, NaN if any is NaN; of no element, infinity or the largest integer."""
    return _extreme(np.min, x, axis, 1)


def _extreme(function: Callable[..., Any], x: np.ndarray, axis: Axis, sign: int) -> np.ndarray:
    nothing: float = sign * np.inf
    if x.dtype.kind in "iu":
        info = np.iinfo(x.dtype)
        nothing = info.max if sign > 0 else info.min
    return np.asarray(function(x, axis=axes(axis, x.ndim), keepdims=True, initial=nothing))


def equal_shares(extreme: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The VJP of an extreme: equal elements share the upstream equally."""

    def vjp(g: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
        at = x == extreme(x, axis)
        n = np.maximum(np.sum(at, axis=axes(axis, x.ndim), keepdims=True), 1)
        return np.asarray(long(g) * (at / n.astype(np.longdouble)))

    return vjp


def shares_jvp(extreme: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The JVP of an extreme: the mean of the tangents of the equal elements."""

    def jvp(t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
        return total(equal_shares(extreme)(long(t), x, axis), axis)

    return jvp
