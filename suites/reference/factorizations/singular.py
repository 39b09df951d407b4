"""Singular: singular values, in descending order, with their derivatives.

They are eigenvalues of the Hermitian matrix [0, a; aᴴ, 0], whose other eigenvalues are their negatives, and zeros. A
computed decomposition is that of a matrix that differs by γ ‖A‖: see `suites.reference.factorizations.products`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.factorizations.products import norm, of_svd, spread, steps
from tf_opdiff.suites.reference.factorizations.self_adjoint import diagonal, turned
from tf_opdiff.suites.reference.linear_algebra.linear import Array, adjoint
from tf_opdiff.suites.reference.promises.promise import Promise


def _dilated(a: Array) -> Array:
    """The Hermitian matrix [0, a; aᴴ, 0]."""
    m, n = a.shape[-2:]
    left, right = np.zeros((*a.shape[:-2], m, m)), np.zeros((*a.shape[:-2], n, n))
    return np.block([[left, a], [adjoint(a), right]])


@dataclass(frozen=True)
class Values(Promise):
    """The singular values in descending order, NaN for a matrix with a NaN.

    They have the dtype of the matrix, or are real numbers.
    """

    real: bool = False

    def f(self, a: Array) -> Array:
        lost = spread(a)
        s = np.linalg.svd(np.where(np.isnan(lost), 0, a), compute_uv=False) + np.real(lost)[..., 0]
        return s if self.real else s.astype(a.dtype)

    def vjp(self, g: Array, a: Array) -> tuple[Array]:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return (u @ diagonal(np.real(g)) @ vh,)

    def jvp(self, ts: Any, a: Array) -> Array:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return np.real(np.diagonal(adjoint(u) @ ts[0] @ adjoint(vh), axis1=-2, axis2=-1))

    def hvp(self, g: Array, ts: Any, a: Array) -> tuple[Array]:
        e, v = np.linalg.eigh(_dilated(a))
        m, n = a.shape[-2:]
        own = np.concatenate([-g, np.zeros((*g.shape[:-1], abs(m - n))), g[..., ::-1]], axis=-1)
        return (turned(_dilated(ts[0]), np.real(own), e, v)[..., :m, m:],)

    def error(self, u: float, a: Array) -> Array:
        return (2 * steps(a) * u * norm(a))[..., 0] + np.zeros(self.f(a).shape)

    def grad_error(self, i: int, u: float, g: Array, a: Array) -> Array:
        return self._error(u, a, norm(g[..., None]), 1)

    def jvp_error(self, u: float, ts: Any, a: Array) -> Array:
        return self._error(u, a, norm(ts[0]), 1)[..., 0, :1] + np.zeros(self.f(a).shape)

    def hvp_error(self, i: int, u: float, g: Array, ts: Any, a: Array) -> Array:
        return self._error(u, a, norm(g[..., None]) * norm(ts[0]) / norm(a), 2)

    def _error(self, u: float, a: Array, size: Array, power: int) -> Array:
        return np.asarray(2 * steps(a) * u * of_svd(a) ** power * size + np.zeros(a.shape))
