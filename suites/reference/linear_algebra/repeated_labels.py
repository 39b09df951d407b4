"""Repeated labels: contractions of the diagonals of tensors that have a label twice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.contraction import Contraction, Multilinear


@dataclass(frozen=True)
class OfDiagonals(Multilinear):
    """A contraction whose tensors may have a label several times: it takes their diagonals. No label is in dots."""

    equation: str

    @cached_property
    def _labels(self) -> tuple[list[str], list[str], Contraction]:
        """The labels of each tensor, each of them once, and the contraction of the diagonals."""
        left, _, right = self.equation.partition("->")
        own = left.split(",")
        once = ["".join(dict.fromkeys(labels)) for labels in own]
        return own, once, Contraction(f"{','.join(once)}->{right}", (False,) * len(own))

    def _diagonals(self, xs: Any) -> list[np.ndarray]:
        own, once, _ = self._labels
        return [np.einsum(f"{a}->{b}", x) for a, b, x in zip(own, once, xs, strict=True)]

    def _back(self, i: int, g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Zeros with the elements of a diagonal of tensor i."""
        own, once, _ = self._labels
        out = np.zeros(shape, g.dtype)
        np.einsum(f"{own[i]}->{once[i]}", out)[...] = g  # a view of the diagonal
        return out

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The result."""
        return self._labels[2].f(*self._diagonals(xs))

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The gradient by each tensor: zeros away from the diagonal."""
        each = self._labels[2].vjp(g, *self._diagonals(xs))
        return tuple(self._back(i, by, x.shape) for i, (by, x) in enumerate(zip(each, xs, strict=True)))

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """The error of the contraction."""
        return self._labels[2].error(u, *self._diagonals(xs))

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        """The error of the contraction's gradient, on the diagonal."""
        error = self._labels[2].grad_error(i, u, g, *self._diagonals(xs))
        return self._back(i, np.asarray(error), xs[i].shape)
