"""Products of a sparse matrix and a dense one: each entry of the sparse one meets a row of the other one.

What has no entry meets nothing: not even an infinity or a NaN of the dense matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.accumulation import sizes
from tf_opdiff.suites.reference.contraction import Multilinear, bound
from tf_opdiff.suites.reference.reduction import long


@dataclass(frozen=True)
class SparseProduct(Multilinear):
    """The promise of op(a) @ op(b), with a sparse `a`: its inputs are values, b, indices of (n, 2), and a shape.

    Attributes:
      turned: for a and for b, whether it is transposed.
      barred: for a and for b, whether its complex conjugate is taken.
    """

    turned: tuple[bool, bool] = (False, False)
    barred: tuple[bool, bool] = (False, False)

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The product."""
        values, b = long(xs[0]), long(xs[1])
        return self._product(self._bar(0, values), self._bar(1, b), xs)

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[Any, ...]:
        """The gradients of the values and of b."""
        values, b, g = long(xs[0]), long(xs[1]), long(g)
        of_values, of_b = self._back(g, np.conj(self._bar(0, values)), np.conj(self._bar(1, b)), xs)
        return self._bar(0, of_values), self._bar(1, of_b), None, None

    def jvp(self, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """Forward mode along the tangents of the values and of b."""
        return super().jvp(ts[:2], *xs)

    def hvp(self, g: np.ndarray, ts: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        """Second order; None for indices and shape."""
        return (*super().hvp(g, ts, *xs), None, None)

    def jvp_error(self, u: float, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """That of forward mode."""
        return super().jvp_error(u, ts[:2], *xs)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """The error of each sum of products."""
        total = self._product(sizes(xs[0]), sizes(xs[1]), xs)
        count = self._product(np.ones(xs[0].shape), np.ones(xs[1].shape), xs)
        return bound(u, total.astype(np.float64), count, xs[:2], self.f(*xs))

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> Any:
        """The error of the gradient of the values or of b; 0 for indices and shape."""
        if i > 1:
            return 0.0
        total = self._back(sizes(g), sizes(xs[0]), sizes(xs[1]), xs)[i]
        count = self._back(np.ones(g.shape), np.ones(xs[0].shape), np.ones(xs[1].shape), xs)[i]
        return bound(u, total.astype(np.float64), count, (g, xs[1 - i]), self.vjp(g, *xs)[i])

    def _bar(self, i: int, x: np.ndarray) -> np.ndarray:
        return np.conj(x) if self.barred[i] else x

    def _places(self, xs: Any) -> tuple[np.ndarray, np.ndarray, int]:
        """The row of the result and the row of b that each entry belongs to, and the number of rows of the result."""
        rows, columns = xs[2].T[::-1] if self.turned[0] else xs[2].T
        return rows, columns, int(xs[3][1 if self.turned[0] else 0])

    def _product(self, values: np.ndarray, b: np.ndarray, xs: Any) -> np.ndarray:
        rows, columns, height = self._places(xs)
        b = b.T if self.turned[1] else b
        out = np.zeros((height, b.shape[1]), np.result_type(values, b))
        np.add.at(out, rows, values[:, None] * b[columns])
        return out

    def _back(self, g: np.ndarray, values: np.ndarray, b: np.ndarray, xs: Any) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of the conjugates, or not, of the values and of b that the product takes."""
        rows, columns, _ = self._places(xs)
        b = b.T if self.turned[1] else b
        of_b = np.zeros(b.shape, np.result_type(g, values))
        np.add.at(of_b, columns, values[:, None] * g[rows])
        return np.sum(g[rows] * b[columns], axis=1), of_b.T if self.turned[1] else of_b
