"""Contraction: sums of products of two tensors over shared labels, with derivatives and errors, in long double."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import accumulator, gamma, lowest_bit, sizes
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.reductions.reduction import long

Arrays = Sequence[np.ndarray]


class Multilinear(Promise):
    """A function that is linear in each of its tensors: forward mode and second order follow from its gradient."""

    def jvp(self, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """Forward mode: the sum of the results with one tensor replaced by its tangent."""
        tangents = ts if isinstance(ts, tuple) else (ts,)
        return np.sum([self.f(*_with(xs, i, t)) for i, t in enumerate(tangents)], axis=0)

    def hvp(self, g: np.ndarray, ts: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        """Second order: the gradient by each tensor along the tangents of the others; None for a single tensor."""
        if len(xs) < 2:
            return (None,)
        return tuple(self.vjp(g, *_with(xs, 1 - i, ts[1 - i]))[i] for i in range(2))

    def jvp_error(self, u: float, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """The error of forward mode: those of all its terms, and the sum of the terms."""
        tangents = ts if isinstance(ts, tuple) else (ts,)
        parts = [_with(xs, i, t) for i, t in enumerate(tangents)]
        return np.sum([self.error(u, *part) + u * sizes(self.f(*part)).astype(np.float64) for part in parts], axis=0)

    def hvp_error(self, i: int, u: float, g: np.ndarray, ts: Any, *xs: np.ndarray) -> np.ndarray:
        """The error of second order by tensor i of two; none for a single tensor."""
        if len(xs) < 2:
            return np.zeros(xs[i].shape)
        return self.grad_error(i, u, g, *_with(xs, 1 - i, ts[1 - i]))


@dataclass(frozen=True)
class Contraction(Multilinear):
    """A contraction of tensors: an equation as of `np.einsum`, such as `...ij,...jk->...ik`.

    No tensor has a label twice. `adjoint` says for each tensor whether its complex conjugate is taken.
    """

    equation: str
    adjoint: tuple[bool, ...] = (False, False)

    @cached_property
    def _labels(self) -> tuple[list[str], str]:
        left, _, right = self.equation.partition("->")
        return left.split(","), right

    def f(self, *xs: np.ndarray) -> np.ndarray:
        """The result; that of integers wraps around in their dtype."""
        return np.asarray(np.einsum(self.equation, *self._taken(xs)), dtype=self._dtype(xs))

    def vjp(self, g: np.ndarray, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The gradient by each tensor."""
        return tuple(self._back(i, long(g), self._taken(xs)) for i in range(len(xs)))

    def error(self, u: float, *xs: np.ndarray) -> np.ndarray:
        """The error of the result: γ of all its roundings, relative to the sum of the sizes of its terms."""
        plain, ones = self._sizes(xs), tuple(np.ones(x.shape) for x in xs)
        return self._error(u, Contraction(self.equation), (plain, ones, xs), self.f(*xs))

    def grad_error(self, i: int, u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        """The error of the gradient by tensor i."""
        of, unit = Contraction(self.equation), tuple(np.ones(x.shape) for x in xs)
        total = of._back(i, long(sizes(g)), of._taken(self._sizes(xs))).astype(np.float64)
        count = of._back(i, np.ones(g.shape), unit).astype(np.float64)
        others = (g, *(x for j, x in enumerate(xs) if j != i))
        # A program sums up over the batches by another op: the product of each batch is rounded before.
        batches = u * total if self._broadcast(i, g, xs) else 0.0
        return bound(u, total, count, others, self.vjp(g, *xs)[i], batches)

    def _broadcast(self, i: int, g: np.ndarray, xs: Arrays) -> bool:
        """Whether tensor i is broadcast along dimensions of the result."""
        batch = [
            x.shape[: x.ndim - len(labels.replace("...", ""))] for labels, x in zip(self._labels[0], xs, strict=True)
        ]
        return batch[i] != np.broadcast_shapes(*batch)

    def _error(self, u: float, of: Contraction, arrays: tuple[Arrays, Arrays, Arrays], value: np.ndarray) -> Any:
        plain, ones, xs = arrays
        return bound(u, of.f(*plain).astype(np.float64), of.f(*ones).astype(np.float64), xs, value)

    def _sizes(self, xs: Arrays) -> tuple[np.ndarray, ...]:
        return tuple(sizes(x) for x in xs)

    def _taken(self, xs: Arrays) -> list[np.ndarray]:
        return [np.conj(long(x)) if bar else long(x) for x, bar in zip(xs, self.adjoint, strict=False)]

    def _dtype(self, xs: Arrays) -> Any:
        return xs[0].dtype if xs[0].dtype.kind in "iu" else None

    def _back(self, i: int, g: np.ndarray, taken: Arrays) -> np.ndarray:
        """The gradient by tensor i of the conjugates that are taken; it is summed up where tensor i was broadcast."""
        inputs, output = self._labels
        shape = taken[i].shape
        others = [(labels, np.conj(x)) for j, (labels, x) in enumerate(zip(inputs, taken, strict=True)) if j != i]
        ones = np.ones(shape, g.dtype)
        left = ",".join([output, *(labels for labels, _ in others), inputs[i]])
        back = np.einsum(f"{left}->{inputs[i]}", g, *(x for _, x in others), ones)
        extra = back.ndim - len(shape)
        summed = (*range(extra), *(k + extra for k, n in enumerate(shape) if n == 1 and back.shape[k + extra] != 1))
        total = np.sum(back, axis=summed, keepdims=True).reshape(shape)
        return np.conj(total) if self.adjoint[i] else total


def _with(xs: Arrays, i: int, t: np.ndarray) -> tuple[np.ndarray, ...]:
    """The tensors with t in place of tensor i."""
    return tuple(t if j == i else x for j, x in enumerate(xs))


def bound(
    u: float, total: np.ndarray, count: np.ndarray, factors: Arrays, value: np.ndarray, more: Any = 0.0
) -> np.ndarray:
    """γ_n Σ|terms|, and more, 0 where every sum is exact; complex products have twice as many. Then the result's."""
    complex_ = any(x.dtype.kind == "c" for x in factors)
    n = (2 if complex_ else 1) * (count + 1)
    wide = accumulator(u, int(np.max(n, initial=0)))
    lowest = np.prod([np.min(lowest_bit(x), initial=np.inf) for x in factors])
    return np.where(total * (u if np.any(more) else wide) <= lowest, 0.0, gamma(n, wide) * total + more) + u * sizes(
        value
    ).astype(np.float64)
