"""Cholesky: the lower factor of Hermitian matrices, with its derivatives over Hermitian matrices and its errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.linear import Numbers, adjoint, identity, solve, triangle
from tf_opdiff.suites.reference.promises.analysed import Analysed
from tf_opdiff.suites.reference.promises.running import Running


def factor(a: Numbers) -> Numbers:
    """The lower triangular L with L @ L^H = a, from the lower triangles of positive definite matrices.

    The error is that of the exact factor of a changed matrix: (n + 1) u |L||L^H| (Higham, Accuracy and Stability,
    theorem 10.3).
    """
    if isinstance(a, Running):
        value, n = factor(a.value), a.shape[-1]
        inverse, size = np.abs(solve(value, np.eye(n), pivot=False)), np.abs(value)
        change = (n + 1) * a.unit * (size @ adjoint(size)) + a.error
        return Running(value, size @ halved(inverse @ change @ adjoint(inverse)), a.unit)
    lower = np.zeros_like(a)
    for j in range(a.shape[-1]):
        done = lower[..., j:, :j] @ adjoint(lower[..., j, None, :j])
        column = a[..., j:, j] - done[..., 0]
        root = np.sqrt(column[..., :1].real)
        lower[..., j:, j] = column / root
        lower[..., j, j] = root[..., 0]  # of an infinite number, too
    return lower


def halved(x: Numbers) -> Numbers:
    """The lower triangle with half of the diagonal."""
    return triangle(x, lower=True) * (1 - np.eye(x.shape[-1]) / 2)


def hermitian(x: Numbers) -> Numbers:
    """The Hermitian part."""
    return (x + adjoint(x)) * 0.5


@dataclass(frozen=True)
class Cholesky(Analysed):
    """The factor of each matrix of a batch; its gradient is Hermitian, because the matrices are."""

    def formula(self, a: Numbers) -> Numbers:
        return factor(a)

    def back(self, g: Numbers, a: Numbers) -> tuple[Numbers]:
        lower, inverse = self._factors(a)
        return (hermitian(adjoint(inverse) @ halved(adjoint(lower) @ g) @ inverse),)

    def along(self, ts: Any, a: Numbers) -> Numbers:
        lower, inverse = self._factors(a)
        return lower @ halved(inverse @ hermitian(ts[0]) @ adjoint(inverse))

    def curved(self, g: Numbers, ts: Any, a: Numbers) -> tuple[Numbers]:
        lower, inverse = self._factors(a)
        change = self.along(ts, a)
        other = -(inverse @ change @ inverse)
        middle, moved = halved(adjoint(lower) @ g), halved(adjoint(change) @ g)
        left = adjoint(other) @ middle + adjoint(inverse) @ moved
        return (hermitian(left @ inverse + adjoint(inverse) @ middle @ other),)

    def _factors(self, a: Numbers) -> tuple[Numbers, Numbers]:
        """The factor and its inverse."""
        lower = factor(a)
        return lower, solve(lower, identity(a), pivot=False)
