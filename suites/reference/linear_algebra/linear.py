"""Linear algebra of batches of matrices in long double, and its errors.

The functions take arrays, or the arrays of `suites.reference.promises.running`, which carry errors along.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.running import ROUNDINGS, Running
from tf_opdiff.suites.reference.reductions.reduction import long

Array = np.ndarray
#: An array, or one with its errors.
Numbers = Any


def running(u: float, x: Array, error: Any = 0.0) -> Running:
    """An array in long double with these errors, by default none; `u` is the unit round-off of the case's dtype."""
    wide = long(x)
    return Running(wide, np.broadcast_to(np.asarray(error, np.float64), wide.shape), ROUNDINGS * u)


def constant(x: Numbers, value: Array) -> Numbers:
    """A constant like x: with errors of 0 if x has errors."""
    return Running(value, np.zeros(value.shape), x.unit) if isinstance(x, Running) else value


def identity(a: Numbers) -> Numbers:
    """The identity matrix of the size of a matrix."""
    return constant(a, np.eye(a.shape[-1], dtype=np.longdouble))


def zeros(a: Numbers) -> Numbers:
    """Zeros in place of each number."""
    return constant(a, np.zeros(a.shape, np.longdouble))


def transposed(x: Numbers) -> Numbers:
    """The transpose of each matrix."""
    if isinstance(x, Running):
        return Running(transposed(x.value), transposed(x.error), x.unit)
    return np.swapaxes(x, -1, -2)


def adjoint(x: Numbers) -> Numbers:
    """The conjugate transpose of each matrix."""
    return np.conj(transposed(x))


def kept(x: Numbers, where: Array) -> Numbers:
    """The elements at which `where` holds, and 0 elsewhere."""
    if isinstance(x, Running):
        return Running(kept(x.value, where), kept(x.error, where), x.unit)
    return np.where(where, x, 0)


def triangle(x: Numbers, lower: bool) -> Numbers:
    """The lower or the upper triangle of each matrix, with its diagonal."""
    i, j = np.indices(x.shape[-2:])
    return kept(x, i >= j if lower else i <= j)


def summed_to(x: Numbers, shape: tuple[int, ...]) -> Numbers:
    """The sum over the batches along which an array of this shape was broadcast."""
    extra = len(x.shape) - len(shape)
    axes = (*range(extra), *(k + extra for k, n in enumerate(shape) if n == 1 and x.shape[k + extra] != 1))
    return np.sum(x, axis=axes, keepdims=True).reshape(shape) if axes else x


def lu(a: Array, pivot: bool = True) -> tuple[Array, Array, Array]:
    """The rows' order, of shape (..., n), and the triangular factors of each matrix: a[order] = lower @ upper.

    With `pivot`, each pivot is the largest number of its column; the first of equal ones. A pivot of 0 has no
    multiples below it.
    """
    n, shape = a.shape[-1], a.shape
    upper = long(a).reshape(prod(shape[:-2]), n, n).copy()
    lower, order = np.zeros_like(upper), np.tile(np.arange(n), (len(upper), 1))
    every = np.arange(len(upper))
    for k in range(n):
        best = k + np.argmax(np.abs(upper[:, k:, k]), axis=1) if pivot else np.full(len(upper), k)
        for x in (upper, lower, order):
            x[every, k], x[every, best] = x[every, best], x[every, k].copy()
        diagonal = upper[:, k, k, None]
        zero = diagonal == 0
        lower[:, k + 1 :, k] = np.where(zero, 0, upper[:, k + 1 :, k] / np.where(zero, 1, diagonal))
        upper[:, k + 1 :, k:] -= lower[:, k + 1 :, k, None] * upper[:, k, None, k:]
        upper[:, k + 1 :, k] = 0
        lower[:, k, k] = 1
    return order.reshape(shape[:-1]), lower.reshape(shape), upper.reshape(shape)


def substituted(triangular: Array, b: Array, lower: bool) -> Array:
    """The solution of a triangular system, by substitution: a NaN spreads to the rows that depend on it."""
    n = triangular.shape[-1]
    batch = np.broadcast_shapes(triangular.shape[:-2], b.shape[:-2])
    x = np.broadcast_to(b, (*batch, *b.shape[-2:])).astype(np.result_type(triangular, b))
    for i in range(n) if lower else reversed(range(n)):
        x[..., i, :] /= triangular[..., i, i, None]
        rest = slice(i + 1, n) if lower else slice(0, i)
        factors = triangular[..., rest, i, None]
        x[..., rest, :] -= np.where(factors == 0, 0, factors * x[..., i, None, :])
    return x


def _rows(x: Array, order: Array) -> Array:
    """The rows of each matrix in another order; batches are broadcast."""
    batch = np.broadcast_shapes(x.shape[:-2], order.shape[:-1])
    wide = np.broadcast_to(x, (*batch, *x.shape[-2:]))
    return np.take_along_axis(wide, np.broadcast_to(order, (*batch, order.shape[-1]))[..., None], axis=-2)


def _solution(a: Array, b: Array, pivot: bool) -> Array:
    order, lower, upper = lu(a, pivot)
    return substituted(upper, substituted(lower, _rows(b, order), lower=True), lower=False)


def solve(a: Numbers, b: Numbers, pivot: bool = True) -> Numbers:
    """x with a @ x = b.

    The error is that of an LU factorization or, of a pivoted one, of a QR factorization too, whose inverse is then
    multiplied by b: |a⁻¹| Δ |a⁻¹| |b| with a Δ of the form of Higham, Accuracy and Stability: |L||U| of theorem 9.4,
    and ‖a_j‖ in column j of theorem 19.4. Both have the factor 4 n u.
    """
    if not isinstance(a, Running):
        return _solution(long(a), long(b), pivot)
    x = _solution(a.value, b.value, pivot)
    inverse = np.abs(_solution(a.value, np.eye(a.shape[-1]), pivot))
    own = changed(a, pivot) @ (inverse @ _size(b.value)) + a.error @ _size(x) + b.error
    return Running(x, inverse @ np.where(np.isnan(own), 0, own), a.unit)


def _size(x: Array) -> Array:
    """The sizes of numbers; 0 of those that are not finite, which have no error."""
    return np.where(np.isfinite(x), np.abs(x), 0)


def changed(a: Running, pivot: bool = True) -> Array:
    """The largest change of each element of a matrix for which a computed factorization is exact."""
    return a.unit * _backward(a.value, pivot) + a.error


def _backward(a: Array, pivot: bool) -> Array:
    """The change of each element of a matrix, in units of round-off, for which a computed solution is exact.

    It is 0 where every row and column has at most one number and all of these are powers of two: nothing is rounded.
    """
    n = a.shape[-1]
    order, lower, upper = lu(a, pivot)
    sizes = np.abs(lower) @ np.abs(upper)
    change = 2 * n * _rows(sizes, np.argsort(order, axis=-1))
    if pivot:
        change = change + 2 * n * np.sqrt(np.sum(np.abs(a) ** 2, axis=-2, keepdims=True))
    mantissa, _ = np.frexp(np.abs(a))
    alone = (np.sum(a != 0, axis=-1, keepdims=True) <= 1).all(axis=(-1, -2), keepdims=True)
    exact = alone & np.isin(mantissa, (0, 0.5)).all(axis=(-1, -2), keepdims=True)
    return np.where(exact, 0, change)
