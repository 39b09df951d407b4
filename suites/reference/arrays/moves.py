"""Moves: ops that put the elements of their inputs in other places, and the sums that their gradients are.

An op is known by its places: it is called with the numbers 1, 2, … in place of values, and each number in the result
says which element stands there. A 0 stands where no element was put.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from tf_opdiff.suites.reference.promises.accumulation import accumulator, gamma, lowest_bit, sizes
from tf_opdiff.suites.reference.promises.promise import Promise, together
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes

Arrays = tuple[np.ndarray, ...]
#: move(*xs, **parameters) → the result, or the results.
Move = Callable[..., Any]


def blank(x: np.ndarray) -> Any:
    """The value of a place without an element: an empty text, or zero."""
    return b"" if x.dtype.kind in "SO" else x.dtype.type(0)


def blanks(x: np.ndarray, shape: Any) -> np.ndarray:
    """An array of a shape, of the dtype of `x`, of places without elements."""
    return np.full(tuple(shape), blank(x), x.dtype)


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

    def flushed(self, i: int, dtype: np.dtype, of_flushed: Sums) -> Others:
        """Sums i where a processor flushes the terms, or the sums; it may move single terms as they are."""
        exact, small = self.totals[i], of_flushed.totals[i]
        others = (flushed_in(dtype, exact), small, flushed_in(dtype, small))
        return wholes(*others, *(np.where(self.counts[i] == 1, exact, other) for other in others))

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
class Moved(Promise):
    """What the promises of an op that moves elements, and of one that moves them back, have in common.

    Attributes:
      move: the move.
      fed: the names of the attributes that are inputs of the program; they follow the tensors.
      mistake: the move that TensorFlow makes in place of `move` because of a known failure.
    """

    move: Move
    fed: tuple[str, ...] = field(default=(), kw_only=True)
    mistake: Move | None = field(default=None, kw_only=True)
    #: Whether forward mode rounds: `jvp_error` is its error.
    rounds_tangents: ClassVar[bool] = False
    rounded = unsigned_zeros = ()

    @property
    def mistaken(self) -> Moved | None:
        """The promise of the move that TensorFlow makes."""
        return replace(self, move=self.mistake, mistake=None) if self.mistake else None

    def results(self, *xs: np.ndarray, **attrs: Any) -> int:
        """The number of results."""
        return len(self.f(*xs, **attrs))

    def varying(self, *xs: np.ndarray, **attrs: Any) -> int:
        """The number of results that depend on the elements of the inputs; these come first."""
        return self.results(*xs, **attrs)

    def jvp(self, ts: Any, *xs: np.ndarray, **attrs: Any) -> Arrays:
        """The results of the tangents."""
        return self.f(*ts, **attrs)

    def _split(self, xs: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> tuple[Arrays, dict[str, Any]]:
        """The tensors, and all attributes as literals."""
        count = len(xs) - len(self.fed)
        every = {**attrs, **dict(zip(self.fed, xs[count:], strict=True))}
        return tuple(xs[:count]), {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in every.items()}

    def _gradients(self, of_tensors: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients by all inputs: None for attributes."""
        return (*of_tensors, *(None for _ in self.fed))


@dataclass(frozen=True)
class Forward(Moved):
    """The promise of an op that moves elements: its gradient sums up the upstreams of all places of an element."""

    def f(self, *xs: np.ndarray, **attrs: Any) -> Arrays:
        """The elements in their new places."""
        tensors, literals = self._split(xs, attrs)
        return together(self.move(*tensors, **literals))

    def vjp(self, gs: Any, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        """The sums of upstreams."""
        return self._gradients(self._sums(gs, xs, attrs).totals)

    def grad_error(self, i: int, u: float, gs: Any, *xs: np.ndarray, **attrs: Any) -> np.ndarray:
        """The errors of the sums by tensor i."""
        return self._sums(gs, xs, attrs).errors(u)[i]

    def grad_alternatives(self, i: int, dtype: np.dtype, gs: Any, *xs: np.ndarray, **attrs: Any) -> Others:
        """The sums where a processor flushes subnormals."""
        of_flushed = self._sums(tuple(flushed_in(dtype, g) for g in together(gs)), xs, attrs)
        return self._sums(gs, xs, attrs).flushed(i, dtype, of_flushed)

    def _sums(self, gs: Any, xs: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> Sums:
        tensors, literals = self._split(xs, attrs)
        return sums(self.move, tensors, together(gs), **literals)


@dataclass(frozen=True)
class Constant(Forward):
    """The promise of an op whose results depend on the shapes of its inputs alone: its gradients are unconnected."""

    def varying(self, *xs: np.ndarray, **attrs: Any) -> int:
        """None of the results."""
        return 0

    def vjp(self, gs: Any, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        """None for each input."""
        return (None,) * len(xs)


@dataclass(frozen=True)
class MovedWith(Forward):
    """The promise of an op that moves elements and has further results: their places, for example.

    others(**attrs) → these results, which come last, and which have no gradient.
    """

    others: Callable[..., Any]

    def f(self, *xs: np.ndarray, **attrs: Any) -> Arrays:
        """The elements in their new places, and the further results."""
        return (*super().f(*xs, **attrs), *together(self.others(**self._split(xs, attrs)[1])))

    def varying(self, *xs: np.ndarray, **attrs: Any) -> int:
        """The number of results with elements."""
        return len(super().f(*xs, **attrs))

    def jvp(self, ts: Any, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        """The tangents in their new places; nothing for the other results."""
        moved = super().f(*ts, **attrs)
        return (*moved, *(None for _ in range(self.results(*ts, **attrs) - len(moved))))

    def _sums(self, gs: Any, xs: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> Sums:
        return super()._sums(together(gs)[: self.varying(*xs, **attrs)], xs, attrs)


@dataclass(frozen=True)
class Back(Moved):
    """The promise of an op that is the gradient of a move: it sums up elements, and its own gradient moves upstreams.

    shape(x, **attrs) → the shape of the result.
    """

    shape: Callable[..., tuple[int, ...]]

    def f(self, *xs: np.ndarray, **attrs: Any) -> Arrays:
        """The sums."""
        return self._sums(xs, attrs).totals

    def vjp(self, gs: Any, *xs: np.ndarray, **attrs: Any) -> tuple[Any, ...]:
        """The upstreams in their new places."""
        return self._gradients(together(self.move(*together(gs), **self._split(xs, attrs)[1])))

    def error(self, u: float, *xs: np.ndarray, **attrs: Any) -> np.ndarray:
        """The errors of the sums."""
        return self._sums(xs, attrs).errors(u)[0]

    def jvp_error(self, u: float, ts: Any, *xs: np.ndarray, **attrs: Any) -> np.ndarray:
        """The errors of the sums of tangents."""
        return self.error(u, *ts, **attrs)

    def alternatives(self, dtype: np.dtype, *xs: np.ndarray, **attrs: Any) -> Others:
        """The sums where a processor flushes subnormals."""
        of_flushed = self._sums([flushed_in(dtype, x) for x in xs], attrs)
        return self._sums(xs, attrs).flushed(0, dtype, of_flushed)

    def _sums(self, xs: Sequence[np.ndarray], attrs: Mapping[str, Any]) -> Sums:
        (x,), literals = self._split(xs, attrs)
        return sums(self.move, (np.zeros(self.shape(x, **literals)),), (x,), **literals)
