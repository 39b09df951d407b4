"""LU: the packed triangular factors of square matrices, and the order of their rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.linear import Array, changed, lu, running, solve
from tf_opdiff.suites.reference.promises.promise import Promise


@dataclass(frozen=True)
class Packed(Promise):
    """The upper factor, and below its diagonal the lower one, whose diagonal of ones is left out.

    The error is that of the exact factors of a changed matrix, to first order: with the change E, L changes by L times
    the strictly lower triangle of L⁻¹ E U⁻¹, and U by the rest of it times U.
    """

    def f(self, a: Array) -> Array:
        _, lower, upper = lu(a)
        return np.tril(lower, -1) + upper

    def error(self, u: float, a: Array) -> Array:
        plain = np.where(np.isnan(a), 0, a)
        order, lower, upper = lu(plain)
        one = np.eye(a.shape[-1])
        change = np.take_along_axis(changed(running(u, plain)), order[..., None], axis=-2)
        inside = np.abs(solve(lower, one, pivot=False)) @ change @ np.abs(solve(upper, one, pivot=False))
        off = np.abs(lower) @ np.tril(inside, -1) + np.triu(inside) @ np.abs(upper)
        return np.asarray(off + u * np.abs(self.f(plain)), np.float64)


@dataclass(frozen=True)
class Order(Promise):
    """The rows of a matrix in the order in which they have the pivots, as integers of a dtype."""

    dtype: str = "int32"

    def f(self, a: Array) -> Array:
        order, _, _ = lu(a)
        return order.astype(self.dtype)
