"""Solving: inverses and systems of linear equations. Each is the solution x of m @ x = b."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tf_opdiff.suites.reference.linear_algebra.linear import (
    Numbers,
    adjoint,
    identity,
    solve,
    summed_to,
    triangle,
    zeros,
)
from tf_opdiff.suites.reference.promises.analysed import Analysed


@dataclass(frozen=True)
class Matrix:
    """A matrix m that is an array, or a triangle of it, or the adjoint of these.

    part        `lower` or `upper`: m is this triangle. Empty: it is the whole array, and a solver chooses pivots.
    adjoint     whether m is the conjugate transpose.
    """

    part: str = ""
    adjoint: bool = False

    @property
    def pivot(self) -> bool:
        """Whether a solver chooses pivots."""
        return not self.part

    def of(self, a: Numbers) -> Numbers:
        """The matrix of an array."""
        whole = triangle(a, lower=self.part == "lower") if self.part else a
        return adjoint(whole) if self.adjoint else whole

    def back(self, g: Numbers, shape: tuple[int, ...]) -> Numbers:
        """The gradient by the array, of this shape, from that by m."""
        own = adjoint(g) if self.adjoint else g
        return summed_to(triangle(own, lower=self.part == "lower") if self.part else own, shape)


@dataclass(frozen=True)
class Solving(Analysed):
    """The solution of m @ x = b, where m is that of an array a."""

    matrix: Any = Matrix()

    def formula(self, a: Numbers, b: Numbers) -> Numbers:
        return self._solved(self.matrix.of(a), b)

    def back(self, g: Numbers, a: Numbers, b: Numbers) -> tuple[Numbers, ...]:
        by_b, x = self._solved(adjoint(self.matrix.of(a)), g), self.formula(a, b)
        return self.matrix.back(-(by_b @ adjoint(x)), a.shape), summed_to(by_b, b.shape)

    def along(self, ts: Any, a: Numbers, b: Numbers) -> Numbers:
        ta, tb = ts
        return self._solved(self.matrix.of(a), tb - self.matrix.of(ta) @ self.formula(a, b))

    def curved(self, g: Numbers, ts: Any, a: Numbers, b: Numbers) -> tuple[Numbers, ...]:
        m, tm = adjoint(self.matrix.of(a)), adjoint(self.matrix.of(ts[0]))
        by_b, x = self._solved(m, g), self.formula(a, b)
        change = -self._solved(m, tm @ by_b)
        by_m = change @ adjoint(x) + by_b @ adjoint(self.along(ts, a, b))
        return self.matrix.back(-by_m, a.shape), summed_to(change, b.shape)

    def _solved(self, m: Numbers, b: Numbers) -> Numbers:
        return solve(m, b, self.matrix.pivot)


@dataclass(frozen=True)
class Inverting(Analysed):
    """The inverse of m: the solution of m @ x = 1."""

    solving: Solving = Solving()

    def formula(self, a: Numbers) -> Numbers:
        return self.solving.formula(a, identity(a))

    def back(self, g: Numbers, a: Numbers) -> tuple[Numbers]:
        return self.solving.back(g, a, identity(a))[:1]

    def along(self, ts: Any, a: Numbers) -> Numbers:
        return self.solving.along([*ts, zeros(a)], a, identity(a))

    def curved(self, g: Numbers, ts: Any, a: Numbers) -> tuple[Numbers]:
        return self.solving.curved(g, [*ts, zeros(a)], a, identity(a))[:1]
