"""Orthonormal: columns of factors, whose products are the identity: see `suites.reference.factorizations.products`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tf_opdiff.suites.reference.factorizations.products import steps
from tf_opdiff.suites.reference.linear_algebra.linear import Array
from tf_opdiff.suites.reference.promises.promise import Promise


def columns(m: int, n: int) -> int:
    """The number of columns of a matrix: that of all right singular vectors."""
    return n


def rows(m: int, n: int) -> int:
    """The number of rows of a matrix: that of all left singular vectors, and of all columns of Q."""
    return m


@dataclass(frozen=True)
class Orthonormal(Promise):
    """Qᴴ Q, which is the identity. `size` gives the number of columns of Q for the shape of a matrix."""

    size: Callable[[int, int], int] = min

    def f(self, a: Array) -> Array:
        k = self.size(*a.shape[-2:])
        return np.broadcast_to(np.eye(k, dtype=a.dtype), (*a.shape[:-2], k, k))

    def error(self, u: float, a: Array) -> Array:
        return np.full(self.f(a).shape, 2 * u * max(steps(a), 1))


@dataclass(frozen=True)
class Factors(Orthonormal):
    """Qᴴ Q, and what stands below the diagonal of R, which is exactly 0."""

    def f(self, a: Array) -> Array:
        y = super().f(a)
        return np.concatenate([y, np.zeros((*y.shape[:-1], a.shape[-1]))], axis=-1)

    def error(self, u: float, a: Array) -> Array:
        own = super().f(a)
        return np.concatenate(
            [np.full(own.shape, 2 * u * max(steps(a), 1)), np.zeros((*own.shape[:-1], a.shape[-1]))], -1
        )
