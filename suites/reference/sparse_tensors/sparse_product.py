"""Products of a sparse matrix and a dense one: each entry of the sparse one meets a row of the other one.

What has no entry meets nothing: not even an infinity or a NaN of the dense matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Sparse
from tf_opdiff.suites.reference.linear_algebra.contraction import Multilinear, bound
from tf_opdiff.suites.reference.promises.accumulation import sizes
from tf_opdiff.suites.reference.reductions.reduction import long


@dataclass(frozen=True)
class SparseProduct(Multilinear):
    """The promise of op(a) @ op(b), with a sparse `a`: its inputs are values, b, indices of (n, 2), and a shape.

    Attributes:
      turned: for a and for b, whether it is transposed.
      barred: for a and for b, whether its complex conjugate is taken.
      output_turned, output_barred: the same of the product.
    """

    turned: tuple[bool, bool] = (False, False)
    barred: tuple[bool, bool] = (False, False)
    output_turned: bool = False
    output_barred: bool = False

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The product."""
        values, b = long(xs[0]), long(xs[1])
        return self._last(self._product(self._bar(0, values), self._bar(1, b), xs))

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[Any, ...]:
        """The gradients of the values and of b."""
        values, b, g = long(xs[0]), long(xs[1]), self._last(long(g))
        of_values, of_b = self._back(g, np.conj(self._bar(0, values)), np.conj(self._bar(1, b)), xs)
        return self._bar(0, of_values), self._bar(1, of_b), None, None

    def jvp(self, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """Forward mode along the tangents of the values and of b."""
        return super().jvp(ts[:2], *xs)

    def hvp(self, g: np.ndarray, ts: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        """Second order; None for indices and shape.

        TensorFlow's gradient by the values gathers rows of b, so what it adds to the gradient by b is sparse.
        """
        of_values, of_b = super().hvp(g, ts, *xs)
        if not self.turned[1]:
            rows, columns = self._places(xs)
            products = self._bar(0, long(ts[0]))[:, None] * _matrix(self._last(long(g)))[rows]
            of_b = Sparse(products, columns, xs[1].shape)
        return of_values, of_b, None, None

    def hvp_error(self, i: int, u: float, g: np.ndarray, ts: Any, *xs: np.ndarray) -> Any:
        """One rounding of each product of a sparse gradient; else that of the gradient."""
        of_b = self.hvp(g, ts, *xs)[1]
        if i == 1 and isinstance(of_b, Sparse):
            return u * sizes(of_b.values).astype(np.float64)
        return super().hvp_error(i, u, g, ts, *xs) if i < 2 else 0.0

    def jvp_error(self, u: float, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """The error of forward mode."""
        return super().jvp_error(u, ts[:2], *xs)

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """The error of each sum of products."""
        total = self._product(sizes(xs[0]), sizes(xs[1]), xs)
        count = self._product(np.ones(xs[0].shape), np.ones(xs[1].shape), xs)
        return bound(u, self._last(total.astype(np.float64)), self._last(count), xs[:2], self.f(*xs))

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> Any:
        """The error of the gradient of the values or of b; 0 for indices and shape."""
        if i > 1:
            return 0.0
        g = self._last(g)
        total = self._back(sizes(g), sizes(xs[0]), sizes(xs[1]), xs)[i]
        count = self._back(np.ones(g.shape), np.ones(xs[0].shape), np.ones(xs[1].shape), xs)[i]
        return bound(u, total.astype(np.float64), count, (g, xs[1 - i]), self.vjp(self._last(g), *xs)[i])

    def _last(self, x: np.ndarray) -> np.ndarray:
        """The product transposed, and its conjugate, or not; the same turns its gradient back."""
        x = np.swapaxes(x, -1, -2) if self.output_turned else x
        return np.conj(x) if self.output_barred else x

    def _bar(self, i: int, x: np.ndarray) -> np.ndarray:
        return np.conj(x) if self.barred[i] else x

    def _places(self, xs: Any) -> tuple[np.ndarray, np.ndarray]:
        """The row of the result and the row of b that each entry belongs to; matrices of a batch follow each other."""
        *batch, rows, columns = xs[2].T
        number = batch[0] if batch else 0
        first, second = rows + number * xs[3][-2], columns + number * xs[3][-1]
        return (second, first) if self.turned[0] else (first, second)

    def _rows(self, b: np.ndarray) -> np.ndarray:
        """The rows of b, or of its transpose, of all matrices of a batch."""
        b = np.swapaxes(b, -1, -2) if self.turned[1] else b
        return _matrix(b)

    def _product(self, values: np.ndarray, b: np.ndarray, xs: Any) -> np.ndarray:
        (rows, columns), of_b = self._places(xs), self._rows(b)
        shape = (*map(int, xs[3][:-2]), int(xs[3][-1 if self.turned[0] else -2]), of_b.shape[1])
        out = np.zeros((prod(shape[:-1]), shape[-1]), np.result_type(values, b))
        np.add.at(out, rows, values[:, None] * of_b[columns])
        return out.reshape(shape)

    def _back(self, g: np.ndarray, values: np.ndarray, b: np.ndarray, xs: Any) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of the conjugates, or not, of the values and of b that the product takes."""
        (rows, columns), of_b, g = self._places(xs), self._rows(b), _matrix(g)
        back = np.zeros(of_b.shape, np.result_type(g, values))
        np.add.at(back, columns, values[:, None] * g[rows])
        turned = np.swapaxes(b, -1, -2).shape if self.turned[1] else b.shape
        back = back.reshape(turned)
        return np.sum(g[rows] * of_b[columns], axis=1), np.swapaxes(back, -1, -2) if self.turned[1] else back


def _matrix(x: np.ndarray) -> np.ndarray:
    """The matrices of a batch, one below the other."""
    return x.reshape(prod(x.shape[:-1]), x.shape[-1])


@dataclass(frozen=True)
class SparseSparseProduct(SparseProduct):
    """The promise of op(a) @ op(b) of two sparse matrices, as a dense one: the inputs of b are values too.

    Its inputs are the values of a and of b, the indices and the shape of a, and then those of b.
    """

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The product."""
        return super().f(*self._with_dense(xs))

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[Any, ...]:
        """The gradients of both values."""
        of_a, of_b, *_ = super().vjp(g, *self._with_dense(xs))
        return of_a, of_b[tuple(xs[4].T)], None, None, None, None

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """The error of each sum of products."""
        return SparseProduct(self.turned, self.barred).error(u, *self._with_dense(xs))

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> Any:
        """The error of the gradient of the values of a or of b."""
        error = SparseProduct(self.turned, self.barred).grad_error(i, u, g, *self._with_dense(xs))
        return error[tuple(xs[4].T)] if i == 1 else error

    @staticmethod
    def _with_dense(xs: Any) -> tuple[np.ndarray, ...]:
        """The inputs with a dense b."""
        b = np.zeros(tuple(map(int, xs[5])), xs[1].dtype)
        b[tuple(xs[4].T)] = xs[1]
        return xs[0], b, xs[2], xs[3]
