"""Products: references of products along axes in long double, with their derivatives, also by zeros."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import Axis, axes, count, gamma, product_roundings
from tf_opdiff.suites.reference.reductions.reduction import long, total


def product(x: np.ndarray, axis: Axis) -> np.ndarray:
    """The product; that of integers wraps around in their dtype."""
    dtype = x.dtype if x.dtype.kind in "iu" else None
    return np.asarray(np.prod(long(x), axis=axes(axis, x.ndim), dtype=dtype, keepdims=True))


def product_error(u: float, x: np.ndarray, axis: Axis) -> np.ndarray:
    """γ_n of the roundings that can happen (Higham, section 3.1), relative to the product."""
    per_product = 4 if x.dtype.kind == "c" else 1
    n = count(x, axis) - 1 if x.dtype.kind == "c" else product_roundings(x, axis)
    return np.asarray(gamma(per_product * n, u) * np.abs(product(x, axis)).astype(np.float64))


def _flat(x: np.ndarray, axis: Axis) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """The elements that are taken together as rows of a matrix, and a function that puts such rows into the shape."""
    where = axes(axis, x.ndim)
    moved = np.moveaxis(x, where, range(len(where)))
    reduced, rest = moved.shape[: len(where)], moved.shape[len(where) :]
    flat = moved.reshape(int(np.prod(reduced, dtype=int)), int(np.prod(rest, dtype=int)))
    return flat, lambda rows: np.moveaxis(rows.reshape(moved.shape), range(len(where)), where)


def _without(rows: np.ndarray) -> np.ndarray:
    """The product of all other rows, for each row, without a quotient, which two zeros would make 0 / 0."""
    left, right = np.ones_like(rows), np.ones_like(rows)
    for i in range(1, len(rows)):
        left[i], right[-1 - i] = left[i - 1] * rows[i - 1], right[-i] * rows[-i]
    return np.asarray(left * right)


def _others(x: np.ndarray, axis: Axis) -> np.ndarray:
    """The product of all other elements, for each element: the derivative of the product."""
    flat, whole = _flat(long(x), axis)
    return whole(_without(flat))


def product_vjp(g: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The upstream times the conjugate of the product of all other elements."""
    return long(g) * np.conj(_others(x, axis))


def product_vjp_error(u: float, g: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """n products, each rounded."""
    n = (4 if x.dtype.kind == "c" else 1) * (count(x, axis) + 1)
    return np.asarray(gamma(n, u) * np.abs(product_vjp(g, x, axis)).astype(np.float64))


def product_jvp(t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The sum of the tangents times the products of all others."""
    return total(long(t) * _others(x, axis), axis)


def product_jvp_error(u: float, t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The error of n products and of their sum, relative to the sum of the sizes of the products."""
    terms = np.abs(long(t) * _others(x, axis)).astype(np.float64)
    return np.asarray(gamma(3 * count(x, axis) + 4, u) * total(terms, axis).astype(np.float64))


def _pairs(t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """Σ_{j≠i} t_j Π_{k≠i,j} x_k for each i."""
    (ts, _), (xs, whole) = _flat(long(t), axis), _flat(long(x), axis)
    sums = np.zeros_like(xs)
    for i in range(len(xs)):
        sums[i] = np.sum(np.delete(ts, i, axis=0) * _without(np.delete(xs, i, axis=0)), axis=0)
    return whole(sums)


def product_hvp(g: np.ndarray, t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """The second derivative of a product."""
    return np.asarray(long(g) * _pairs(t, x, axis))


def product_hvp_error(u: float, g: np.ndarray, t: np.ndarray, x: np.ndarray, axis: Axis) -> np.ndarray:
    """Sums of products of products: 4 n + 8 roundings of the sizes of all terms, and of the diagonal.

    TensorFlow differentiates cumulative products by a sum of all terms that it divides by x.
    """
    g, t, x = np.abs(long(g)), np.abs(long(t)), np.abs(long(x))
    diagonal = t * _others(x, axis) / np.where(x == 0, 1, x)
    return np.asarray(gamma(4 * count(x, axis) + 8, u) * (g * (_pairs(t, x, axis) + diagonal)).astype(np.float64))
