"""Tridiagonal matrices, as three diagonals of shape (..., 3, n): above, on and below the main one.

The last number above the main diagonal, and the first one below it, belong to no matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.linear_algebra.linear import Numbers, kept, transposed, zeros
from tf_opdiff.suites.reference.promises.analysed import Analysed

#: The place of each diagonal, as of `np.eye`.
_PLACES = (1, 0, -1)


@dataclass(frozen=True)
class Bands:
    """The matrix of three diagonals: see `suites.reference.linear_algebra.solving.Solving`.

    pivot   whether a solver exchanges rows.
    """

    pivot: bool = True

    def of(self, diagonals: Numbers) -> Numbers:
        """The matrices."""
        n = diagonals.shape[-1]
        above, main, below = (
            kept(transposed(diagonals[..., [i], :]), np.eye(n, k=k, dtype=bool)) for i, k in enumerate(_PLACES)
        )
        return above + main + below

    def back(self, g: Numbers, shape: tuple[int, ...]) -> Numbers:
        """The gradient by the diagonals from that by the matrices."""
        n = shape[-1]
        nothing = 0 * np.sum(kept(g, np.eye(n, dtype=bool)), axis=-1)  # NaN for an upstream that is NaN
        rows = []
        for k in _PLACES:
            there = np.eye(n, k=k, dtype=bool)
            rows.append(np.sum(kept(g, there), axis=-1) + kept(nothing, np.logical_not(there.any(axis=1))))
        return np.stack(rows, axis=-2)


def _up(x: Numbers) -> Numbers:
    """Each row in place of the one above it, and 0 in the last one."""
    return np.concatenate([x[..., 1:, :], zeros(x[..., :1, :])], axis=-2)


def _down(x: Numbers) -> Numbers:
    """Each row in place of the one below it, and 0 in the first one."""
    return np.concatenate([zeros(x[..., :1, :]), x[..., :-1, :]], axis=-2)


def _used(above: Numbers, main: Numbers, below: Numbers) -> tuple[Numbers, ...]:
    """The diagonals with 0 in place of the numbers that belong to no matrix."""
    i, n = np.arange(main.shape[-1]), main.shape[-1]
    return kept(above, i < n - 1), main, kept(below, i > 0)


@dataclass(frozen=True)
class TridiagonalProduct(Analysed):
    """The product of tridiagonal matrices, three diagonals of shape (..., 1, n), and matrices of shape (..., n, m)."""

    def formula(self, *xs: Numbers) -> Numbers:
        *diagonals, x = xs
        above, main, below = map(transposed, _used(*diagonals))
        return above * _up(x) + main * x + below * _down(x)

    def back(self, g: Numbers, *xs: Numbers) -> tuple[Numbers, ...]:
        *diagonals, x = xs
        above, main, below = (np.conj(transposed(d)) for d in _used(*diagonals))
        by_diagonal = (transposed(np.sum(np.conj(y) * g, axis=-1, keepdims=True)) for y in (_up(x), x, _down(x)))
        return *by_diagonal, _down(above * g) + main * g + _up(below * g)

    def along(self, ts: Any, *xs: Numbers) -> Numbers:
        return self.formula(*ts[:3], xs[3]) + self.formula(*xs[:3], ts[3])

    def curved(self, g: Numbers, ts: Any, *xs: Numbers) -> tuple[Numbers, ...]:
        *by_diagonals, _ = self.back(g, *xs[:3], ts[3])
        return *by_diagonals, self.back(g, *ts[:3], xs[3])[3]
