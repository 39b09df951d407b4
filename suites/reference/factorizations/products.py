"""Products of the factors of a decomposition: they do not depend on the signs of the factors, and are functions of the
matrix.

A computed decomposition is that of a matrix that differs by γ ‖a_j‖ in column j, and its orthonormal columns are off by
γ, for Householder's method, which QR, bidiagonalization and tridiagonalization share (Higham, Accuracy and Stability,
theorem 19.4). In the worst case γ is c m n u. Rounding errors of both signs make it c √(m n) u (Connolly and Higham,
Probabilistic rounding error analysis of Householder QR factorization, SIAM J. Matrix Anal. Appl. 44, 2023). Derivatives
divide by the matrix, or by differences of its singular values: they have its `sensitivity` as a factor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.linear import Array, adjoint
from tf_opdiff.suites.reference.promises.promise import Promise

#: The constant c of the error of Householder's method, and of methods in which iterations follow: 1.4 times the largest
#: error of 1,000 random float32 matrices of several sizes up to 12, in functions of TensorFlow 2.21 on an AMD EPYC of
#: family 25, model 17.
_OF_QR, _OF_ITERATIONS = 3, 4


def norm(x: Array) -> Array:
    """The Frobenius norm of each matrix, of shape (..., 1, 1)."""
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=(-2, -1), keepdims=True))


def both(x: Array) -> Array:
    """The sum of each matrix and its conjugate transpose."""
    return np.asarray(x + adjoint(x))


def spread(g: Array) -> Array:
    """0, and NaN for matrices with a NaN: products of matrices carry it to all elements."""
    return np.asarray(0 * np.sum(g, axis=(-2, -1), keepdims=True))


def steps(a: Array, units: float = _OF_ITERATIONS) -> float:
    """The error γ of a decomposition, in units of round-off; `units` is its constant c."""
    return units * sqrt(a.shape[-2] * a.shape[-1])


def _columns(a: Array) -> Array:
    """The norm of each column, of shape (..., 1, n)."""
    return np.sqrt(np.sum(np.abs(a) ** 2, axis=-2, keepdims=True))


def of_qr(a: Array) -> Array:
    """The sensitivity of a QR factorization: ‖A‖ / σ, with the smallest singular value σ of the leading columns.

    The gradient divides by the square part of R, whose columns are the first ones.
    """
    leading = a[..., : min(a.shape[-2:])]
    smallest = np.min(np.linalg.svd(leading, compute_uv=False), axis=-1, initial=np.inf)[..., None, None]
    return np.maximum(norm(a) / np.where(smallest > 0, smallest, np.inf), 1)


def of_svd(a: Array) -> Array:
    """The sensitivity of a singular value decomposition: 2 ‖A‖² / min|σᵢ² - σⱼ²| + ‖A‖ / min σ."""
    s = np.linalg.svd(a, compute_uv=False)
    gap = np.min(-np.diff(s**2), axis=-1, initial=np.inf)[..., None, None]
    smallest = np.min(s, axis=-1, initial=np.inf)[..., None, None]
    gap, smallest = (np.where(x > 0, x, np.inf) for x in (gap, smallest))
    return np.asarray(2 * norm(a) ** 2 / gap + norm(a) / smallest)


@dataclass(frozen=True)
class Product(Promise):
    """The product of all factors, which is the matrix: its gradient is the upstream."""

    sensitivity: Callable[[Array], Array]

    def f(self, a: Array) -> Array:
        return a

    def vjp(self, g: Array, a: Array) -> tuple[Array]:
        return (g + spread(g),)

    def jvp(self, ts: Any, a: Array) -> Array:
        return np.asarray(ts[0])

    def hvp(self, g: Array, ts: Any, a: Array) -> tuple[Array]:
        return (np.zeros(a.shape),)

    def error(self, u: float, a: Array) -> Array:
        own = _columns(a) if self.sensitivity is of_qr else norm(a)
        return np.asarray(2 * self._steps(a) * u * own + np.zeros(a.shape))

    def grad_error(self, i: int, u: float, g: Array, a: Array) -> Array:
        return self._error(u, a, a, norm(g), 1)

    def jvp_error(self, u: float, ts: Any, a: Array) -> Array:
        return self._error(u, a, self.f(a), norm(ts[0]), 1)

    def hvp_error(self, i: int, u: float, g: Array, ts: Any, a: Array) -> Array:
        return self._error(u, a, a, norm(g) * norm(ts[0]) / nonzero(norm(a)), 3)

    def _error(self, u: float, a: Array, like: Array, size: Array, power: int) -> Array:
        return np.asarray(2 * self._steps(a) * u * self.sensitivity(a) ** power * size + np.zeros(like.shape))

    def _steps(self, a: Array) -> float:
        return steps(a, _OF_QR if self.sensitivity is of_qr else _OF_ITERATIONS)


@dataclass(frozen=True)
class Gram(Product):
    """The product of the conjugate transpose of all factors and of all factors: aᴴ a."""

    def f(self, a: Array) -> Array:
        return np.asarray(adjoint(a) @ a)

    def vjp(self, g: Array, a: Array) -> tuple[Array]:
        return (a @ both(g) + spread(g),)

    def jvp(self, ts: Any, a: Array) -> Array:
        return both(adjoint(a) @ ts[0])

    def hvp(self, g: Array, ts: Any, a: Array) -> tuple[Array]:
        return (ts[0] @ both(g),)

    def error(self, u: float, a: Array) -> Array:
        columns = _columns(a) if self.sensitivity is of_qr else norm(a)
        return np.asarray(2 * self._steps(a) * u * adjoint(columns) * columns + np.zeros(self.f(a).shape))

    def _error(self, u: float, a: Array, like: Array, size: Array, power: int) -> Array:
        return super()._error(u, a, like, 2 * norm(a) * size, power)


@dataclass(frozen=True)
class Projection(Product):
    """Q Qᴴ of orthonormal columns that span those of the matrix: the projection onto them."""

    def f(self, a: Array) -> Array:
        return np.asarray(a @ np.linalg.pinv(a))

    def vjp(self, g: Array, a: Array) -> tuple[Array]:
        return (self._outside(a) @ both(g) @ adjoint(np.linalg.pinv(a)),)

    def jvp(self, ts: Any, a: Array) -> Array:
        return both(self._outside(a) @ ts[0] @ np.linalg.pinv(a))

    def hvp(self, g: Array, ts: Any, a: Array) -> tuple[Array]:
        inverse, outside, sent = np.linalg.pinv(a), self._outside(a), both(g)
        change = inverse @ adjoint(inverse) @ adjoint(ts[0]) @ outside - inverse @ ts[0] @ inverse
        return (outside @ sent @ adjoint(change) - self.jvp(ts, a) @ sent @ adjoint(inverse),)

    def error(self, u: float, a: Array) -> Array:
        return super()._error(u, a, self.f(a), np.ones(()), 1)

    def _error(self, u: float, a: Array, like: Array, size: Array, power: int) -> Array:
        return super()._error(u, a, like, 2 * size / norm(a), power + 1)

    def _outside(self, a: Array) -> Array:
        """The projection onto what is orthogonal to all columns."""
        return np.asarray(np.eye(a.shape[-2]) - self.f(a))


def nonzero(x: Array) -> Array:
    """Positive numbers, and 1 in place of all others."""
    return np.where(x > 0, x, 1)
