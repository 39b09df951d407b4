"""Cross products along the last dimension, with derivatives and errors, in long double."""

from __future__ import annotations

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.contraction import Multilinear
from tf_opdiff.suites.reference.promises.accumulation import gamma, lowest_bit, sizes
from tf_opdiff.suites.reference.reductions.reduction import long

_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b; that of integers wraps around in their dtype."""
    return a[..., _NEXT] * b[..., _LAST] - a[..., _LAST] * b[..., _NEXT]


class Cross(Multilinear):
    """The cross product of two tensors of vectors of three elements."""

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The product."""
        return cross(*map(long, xs))

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """b × g and g × a, for the derivative of g · (a × b)."""
        a, b = map(long, xs)
        return cross(b, long(g)), cross(long(g), a)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """Three roundings of two products, in the dtype itself; none where small integers are multiplied."""
        a, b = (sizes(x) for x in xs)
        total = (a[..., _NEXT] * b[..., _LAST] + a[..., _LAST] * b[..., _NEXT]).astype(np.float64)
        lowest = np.prod([np.min(lowest_bit(x), initial=np.inf) for x in xs])
        return np.where(total * u <= lowest, 0.0, gamma(3, u) * total)

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        """The error of the cross product of the upstream with the other input."""
        return self.error(u, g, xs[1 - i])
