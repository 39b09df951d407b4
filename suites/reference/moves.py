"""Moves: ops that put the elements of their inputs in other places, and the sums that their gradients are.

An op is known by its places: it is called with the numbers 1, 2, … in place of values, and each number in the result
says which element stands there. A 0 stands where no element was put.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.accumulation import accumulator, gamma, lowest_bit, sizes

Arrays = tuple[np.ndarray, ...]
#: move(*xs, **parameters) → the result, or the results.
Move = Callable[..., Any]


def blank(x: np.ndarray) -> Any:
    """The value of a place without an element: an empty text, or zero."""
    return b"" if x.dtype.kind in "SO" else x.dtype.type(0)


def blanks(x: np.ndarray, shape: Any) -> np.ndarray:
    """An array of a shape, of the dtype of `x`, of places without elements."""
    return np.full(tuple(shape), blank(x), x.dtype)


def together(results: Any) -> Arrays:
    """One result or several, as a tuple."""
    return tuple(results) if isinstance(results, tuple | list) else (results,)


def numbers(xs: Sequence[np.ndarray]) -> Arrays:
    """Arrays of the shapes of these arrays, with the numbers 1, 2, …, each of them once."""
    starts = np.cumsum([1, *(x.size for x in xs)])
    return tuple(np.asarray(start + np.arange(x.size).reshape(x.shape)) for start, x in zip(starts, xs, strict=False))


@dataclass(frozen=True)
class Sums:
    """The sums of some terms, one for each element of the inputs of a move.

    Attributes:
      totals: the sums, computed in long double if they are not those of integers.
      counts: the number of terms of each.
      magnitudes: the sum of the sizes of the terms.
      lowest: the value of the lowest bit of all terms.
    """

    totals: Arrays
    counts: Arrays
    magnitudes: Arrays
    lowest: Arrays

    def errors(self, u: float) -> Arrays:
        """The largest errors: γ_{n-1} Σ|x| (Higham, section 4.2) and one rounding; none where every sum is exact."""
        return tuple(map(lambda *parts: self._error(u, *parts), self.totals, self.counts, self.magnitudes, self.lowest))

    @staticmethod
    def _error(u: float, total: Any, count: Any, magnitude: Any, lowest: Any) -> np.ndarray:
        wide = accumulator(u, int(count.max(initial=0)))
        rounded = gamma(np.maximum(count - 1, 0), wide) * magnitude + u * sizes(total)
        return np.where((count < 2) | (magnitude * wide <= lowest), 0.0, rounded).astype(np.float64)


def sums(move: Move, xs: Sequence[np.ndarray], terms: Sequence[np.ndarray], **parameters: Any) -> Sums:
    """The sums of the terms that stand where a move puts each element of its inputs.

    Args:
      move: the move.
      xs: its inputs; their values do not matter.
      terms: numbers of the shapes of its results.
      parameters: its other arguments.
    """
    places = together(move(*numbers(xs), **parameters))
    at = np.concatenate([place.ravel() for place in places]) if places else np.zeros(0, int)
    flat = np.concatenate([term.ravel() for term in terms]) if terms else np.zeros(0)
    size = 1 + sum(x.size for x in xs)
    total = np.zeros(size, {"f": np.longdouble, "c": np.clongdouble}.get(flat.dtype.kind, flat.dtype))
    count, magnitude, lowest = np.zeros(size, int), np.zeros(size), np.full(size, np.inf)
    alone = np.zeros(size, flat.dtype)  # the sum of one term is this term, with the sign of its zero
    alone[at] = flat
    np.add.at(count, at, 1)
    np.add.at(total, at, flat)
    total = np.where(count == 1, alone, total)
    if flat.dtype.kind in "fc":
        np.add.at(magnitude, at, sizes(flat).astype(np.float64))
        np.minimum.at(lowest, at, lowest_bit(flat))

    def split(values: np.ndarray) -> Arrays:
        ends = np.cumsum([1, *(x.size for x in xs)])
        return tuple(values[end : end + x.size].reshape(x.shape) for end, x in zip(ends, xs, strict=False))

    return Sums(split(total), split(count), split(magnitude), split(lowest))


@dataclass(frozen=True)
class Forward:
    """The promise of an op that moves elements: its gradient sums up the upstreams of all places of an element."""

    move: Move

    def outputs(self, *xs: np.ndarray, **parameters: Any) -> Arrays:
        """The elements in their new places."""
        return together(self.move(*xs, **parameters))

    def sums_of_gradients(self, gs: Sequence[np.ndarray], *xs: np.ndarray, **parameters: Any) -> Sums:
        """The sums that the gradients of all inputs are."""
        return sums(self.move, xs, gs, **parameters)

    def gradients(self, gs: Sequence[np.ndarray], *xs: np.ndarray, **parameters: Any) -> Arrays:
        """The gradients of all inputs."""
        return self.sums_of_gradients(gs, *xs, **parameters).totals


@dataclass(frozen=True)
class Back:
    """The promise of an op that is the gradient of a move: it sums up elements, and its own gradient moves upstreams.

    shape(x, **parameters) → the shape of the result.
    """

    move: Move
    shape: Callable[..., tuple[int, ...]]

    def sums_of_outputs(self, x: np.ndarray, **parameters: Any) -> Sums:
        """The sums that the output is."""
        return sums(self.move, (np.zeros(self.shape(x, **parameters)),), (x,), **parameters)

    def outputs(self, x: np.ndarray, **parameters: Any) -> Arrays:
        """The sums."""
        return self.sums_of_outputs(x, **parameters).totals

    def gradients(self, gs: Sequence[np.ndarray], x: np.ndarray, **parameters: Any) -> Arrays:
        """The upstreams in their new places."""
        return together(self.move(*gs, **parameters))
