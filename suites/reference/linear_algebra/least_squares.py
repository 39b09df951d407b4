"""Least squares: solutions of systems with more or fewer equations than unknowns, and pseudoinverses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.factorizations.products import norm, steps
from tf_opdiff.suites.reference.linear_algebra.linear import Array, Numbers, adjoint, identity, solve
from tf_opdiff.suites.reference.promises.analysed import Analysed
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.reductions.reduction import long


@dataclass(frozen=True)
class LeastSquares(Analysed):
    """The x with the least ‖a x - b‖² + l2 ‖x‖², or the shortest x with a x = b, by the normal equations.

    Source: https://www.tensorflow.org/api_docs/python/tf/linalg/lstsq
    """

    l2: float = 0.0

    def formula(self, a: Numbers, b: Numbers) -> Numbers:
        if a.shape[-2] >= a.shape[-1]:
            return self._solved(adjoint(a), adjoint(a) @ b)
        return adjoint(a) @ self._solved(a, b)

    def back(self, g: Numbers, a: Numbers, b: Numbers) -> tuple[Numbers, ...]:
        x = self.formula(a, b)
        if a.shape[-2] >= a.shape[-1]:
            c = self._solved(adjoint(a), g)
            return (b - a @ x) @ adjoint(c) - a @ c @ adjoint(x), a @ c
        c = self._solved(a, a @ g)
        return self._solved(a, b) @ adjoint(g - adjoint(a) @ c) - c @ adjoint(x), c

    def _solved(self, left: Numbers, b: Numbers) -> Numbers:
        """The y with (left leftᴴ + l2) y = b."""
        gram = left @ adjoint(left)
        return solve(gram + identity(gram) * self.l2, b)


class Pseudoinverse(Promise):
    """The pseudoinverse of matrices of full rank.

    A computed singular value decomposition is that of a matrix that differs by Δ = γ ‖a‖: see
    `suites.reference.factorizations.products`. The pseudoinverse then differs by at most √2 ‖a⁺‖² Δ (Golub and Van
    Loan, Matrix Computations, section 5.5.5), and the terms of its gradient, with three or four factors, by as much for
    each factor.
    """

    def f(self, a: Array) -> Array:
        return np.asarray(
            LeastSquares().f(a, np.broadcast_to(np.eye(a.shape[-2]), (*a.shape[:-2], *[a.shape[-2]] * 2)))
        )

    def vjp(self, g: Array, a: Array) -> tuple[Array]:
        a, g, p = long(a), long(g), self.f(a)
        rows, columns = np.eye(a.shape[-2]) - a @ p, np.eye(a.shape[-1]) - p @ a
        back, q = adjoint(g), adjoint(p)
        return (rows @ back @ p @ q + q @ p @ back @ columns - q @ g @ q,)

    def error(self, u: float, a: Array) -> Array:
        return self._error(u, a, 2) + np.zeros(self.f(a).shape)

    def grad_error(self, i: int, u: float, g: Array, a: Array) -> Array:
        return np.asarray(12 * self._error(u, a, 3) * norm(g) + np.zeros(a.shape))

    def _error(self, u: float, a: Array, power: int) -> Any:
        return 2 * steps(a) * u * (norm(a) * norm(self.f(a)) ** power).astype(np.float64)


class OfRankOne(Pseudoinverse):
    """The pseudoinverse of matrices of rank one, aᴴ / ‖a‖², and of zeros."""

    def f(self, a: Array) -> Array:
        size = norm(long(a)) ** 2
        return np.asarray(adjoint(long(a)) / np.where(size > 0, size, 1))
