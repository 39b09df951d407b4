"""Self-adjoint: eigenvalues and eigenvectors of Hermitian matrices, of which only the lower triangle is read.

A computed decomposition is that of a matrix that differs by γ ‖A‖ (LAPACK Users' Guide, section 4.7); errors of
derivatives also have the inverse of the smallest gap between eigenvalues as a factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.factorizations.products import both, nonzero, norm, spread, steps
from tf_opdiff.suites.reference.linear_algebra.linear import Array, adjoint
from tf_opdiff.suites.reference.promises.promise import Promise


def hermitian(a: Array) -> Array:
    """The Hermitian matrix with the lower triangle of a."""
    below = np.tril(a, -1)
    return np.asarray(below + adjoint(below) + diagonal(np.real(np.diagonal(a, axis1=-2, axis2=-1))))


def diagonal(e: Array) -> Array:
    """Matrices with these diagonals."""
    return np.where(np.eye(e.shape[-1]) == 1, e[..., None], 0)


def turned(t: Array, own: Array, e: Array, v: Array) -> Array:
    """The derivative of v diag(own) vᴴ along t, where t changes a Hermitian matrix with eigenvalues e, vectors v."""
    gaps = e[..., None, :] - e[..., :, None]
    differences = own[..., None, :] - own[..., :, None]
    slopes = np.where(differences == 0, 0, differences / np.where(gaps == 0, 1, gaps))
    return np.asarray(v @ (slopes * (adjoint(v) @ t @ v)) @ adjoint(v))


def _lowered(h: Array) -> Array:
    """The gradient by the lower triangle, from that by the whole Hermitian matrix; NaN in a matrix that has one."""
    h = h + spread(h)
    return np.asarray(np.tril(2 * h, -1) + diagonal(np.diagonal(h, axis1=-2, axis2=-1)))


class _OfLower(Promise):
    """A function of the lower triangle: its errors are `size` of what the op is given, and grow with 1 / gap."""

    def scale(self, a: Array, *others: Array) -> Array:
        """The size of the result, or of a derivative, from the norms of the upstream and the tangent."""
        return np.asarray(np.prod(np.stack(np.broadcast_arrays(np.ones(()), *map(norm, others))), axis=0))

    def error(self, u: float, a: Array) -> Array:
        return self._error(u, a, self.f(a).shape, self.scale(a) * self._whole(a), 0)

    def grad_error(self, i: int, u: float, g: Array, a: Array) -> Array:
        return self._error(u, a, a.shape, self.scale(a, self._matrix(g, a)), 1)

    def jvp_error(self, u: float, ts: Any, a: Array) -> Array:
        return self._error(u, a, self.f(a).shape, self.scale(a, hermitian(ts[0])), 1)

    def hvp_error(self, i: int, u: float, g: Array, ts: Any, a: Array) -> Array:
        size = self.scale(a, self._matrix(g, a), hermitian(ts[0])) / nonzero(self._whole(a))
        return self._error(u, a, a.shape, size, 2)

    def _whole(self, a: Array) -> Array:
        return norm(hermitian(a))

    def _matrix(self, g: Array, a: Array) -> Array:
        """The upstream as matrices."""
        return g if g.ndim == a.ndim else g[..., None]

    def _error(self, u: float, a: Array, shape: tuple[int, ...], size: Array, power: int) -> Array:
        error = np.asarray(2 * steps(a) * u * _sensitivity(a) ** power * size)
        return (error if len(shape) == a.ndim else error[..., 0]) + np.zeros(shape)


@dataclass(frozen=True)
class Power(_OfLower):
    """V Λⁿ Vᴴ, which is the power n of the matrix: 1 or 2."""

    n: int = 1

    def f(self, a: Array) -> Array:
        return np.asarray(np.linalg.matrix_power(hermitian(a), self.n))

    def vjp(self, g: Array, a: Array) -> tuple[Array]:
        return (_lowered(self._along(both(g) / 2, hermitian(a))),)

    def jvp(self, ts: Any, a: Array) -> Array:
        return self._along(hermitian(ts[0]), hermitian(a))

    def hvp(self, g: Array, ts: Any, a: Array) -> tuple[Array]:
        return (_lowered(self._along(both(g) / 2, hermitian(ts[0]))) * (self.n - 1),)

    def scale(self, a: Array, *others: Array) -> Array:
        return super().scale(a, *others) * self.n * self._whole(a) ** (self.n - 1)

    def _along(self, t: Array, s: Array) -> Array:
        """The derivative along t, for Hermitian matrices."""
        return np.asarray(t @ s + s @ t if self.n == 2 else t)


@dataclass(frozen=True)
class Values(_OfLower):
    """The eigenvalues in ascending order, in the dtype of the matrix."""

    def f(self, a: Array) -> Array:
        return np.linalg.eigvalsh(hermitian(a)).astype(a.dtype)

    def vjp(self, g: Array, a: Array) -> tuple[Array]:
        _, v = np.linalg.eigh(hermitian(a))
        return (_lowered(v @ diagonal(np.real(g)) @ adjoint(v)),)

    def jvp(self, ts: Any, a: Array) -> Array:
        _, v = np.linalg.eigh(hermitian(a))
        change = adjoint(v) @ hermitian(ts[0]) @ v
        return np.real(np.diagonal(change, axis1=-2, axis2=-1)).astype(a.dtype)

    def hvp(self, g: Array, ts: Any, a: Array) -> tuple[Array]:
        e, v = np.linalg.eigh(hermitian(a))
        return (_lowered(turned(hermitian(ts[0]), np.real(g), e, v)),)


@dataclass(frozen=True)
class Trace(_OfLower):
    """The sum of the eigenvalues: its gradient is the identity also where eigenvalues are equal."""

    def f(self, a: Array) -> Array:
        return np.real(np.trace(a, axis1=-2, axis2=-1)).astype(a.dtype)

    def vjp(self, g: Array, a: Array) -> tuple[Array]:
        return (np.real(g)[..., None, None] * np.eye(a.shape[-1]) + np.zeros(a.shape),)

    def jvp(self, ts: Any, a: Array) -> Array:
        return self.f(ts[0]).astype(a.dtype)

    def error(self, u: float, a: Array) -> Array:
        return (2 * steps(a) * a.shape[-1] * u * self._whole(a))[..., 0, 0]

    def jvp_error(self, u: float, ts: Any, a: Array) -> Array:
        return self.error(u, ts[0])

    def grad_error(self, i: int, u: float, g: Array, a: Array) -> Array:
        return np.tril(2 * steps(a) * u * np.abs(g)[..., None, None] + np.zeros(a.shape))


def _sensitivity(a: Array) -> Array:
    """The norm of each matrix over the smallest gap between its eigenvalues, of shape (..., 1, 1); 1 at least."""
    e = np.linalg.eigvalsh(hermitian(a))
    gap = np.min(np.diff(e), axis=-1, initial=np.inf)[..., None, None]
    return np.asarray(np.maximum(norm(hermitian(a)) / np.where(gap > 0, gap, np.inf), 1))
