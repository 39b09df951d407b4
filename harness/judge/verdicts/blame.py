"""Blame: the elements of the inputs to which an element of a result owes its value, as far as the promise tells.

The element of a row may be NaN because of an infinity elsewhere in the row: an example has to show the infinity. The
promise depends on an element of an input if it changes where an ordinary number takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tf_opdiff.harness.device.repeat import differing
from tf_opdiff.harness.judge.differences.simplest import first
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.contract import Side
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Case

Index = tuple[int, ...]
#: Elements: of larger inputs nothing is blamed, because a promise takes too long.
_MOST = 10_000
#: Kinds of differences for which the smallest numbers of an input are to blame; for others, the largest.
_OF_SMALL = ("subnormal", "signed_zero")


@dataclass
class Blame:
    """Finds the elements to blame for the results of a case, once for all plans that make the same promise.

    `side` is the side of the contract that promises, `upstreams` are those of the promise.
    """

    case: Case
    inputs: tuple[np.ndarray, ...]
    upstreams: tuple[np.ndarray | None, ...] | None = None
    side: Side | None = None
    _known: dict[tuple[str, Index, bool], tuple[Index | None, ...]] = field(default_factory=dict)
    _promised: dict[tuple[bool, frozenset[int]], Mapping[str, Want]] = field(default_factory=dict)

    def of(self, quantity: str, index: Index, kind: str) -> tuple[Index | None, ...]:
        """The index in each input of the element to blame for an element of a result; None if the promise needs none.

        `kind` is that of the difference. If it is not known which elements are to blame, there are none.
        """
        small = kind in _OF_SMALL
        key = quantity, index, small
        if key not in self._known:
            blamed = _Promise(self, quantity, index).blamed(small=small)
            self._known[key] = blamed if any(blamed) else ()
        return self._known[key]

    def promised(self, quantity: str, where: Mapping[int, np.ndarray]) -> Mapping[str, Want]:
        """The promise for a quantity, and others, if other, ordinary numbers stand at some places of some inputs.

        `where` has a mask of the places for each of these inputs. Promises for inputs that change as a whole are kept:
        each element and quantity is compared with them.
        """
        with_upstreams = family_of(quantity) != "output"
        if not all(mask.all() for mask in where.values()):
            return self._computed(with_upstreams, where)
        key = with_upstreams, frozenset(where)
        if key not in self._promised:
            self._promised[key] = self._computed(with_upstreams, where)
        return self._promised[key]

    def _computed(self, with_upstreams: bool, where: Mapping[int, np.ndarray]) -> Mapping[str, Want]:
        inputs = list(self.inputs)
        for number, mask in where.items():
            x = inputs[number]
            ordinary, other = _ordinary(x)
            inputs[number] = np.where(mask, np.where(x == ordinary, other, ordinary), x).astype(x.dtype)
        upstreams = self.upstreams if with_upstreams else None
        return expectation(self.case, tuple(inputs), self.side, upstreams_of=lambda *_: upstreams, bounds=False).wants


@dataclass
class _Promise:
    """The promise for one element of a result, as a function of the inputs."""

    of: Blame
    quantity: str
    index: Index

    @np.errstate(all="ignore")
    def blamed(self, *, small: bool) -> tuple[Index | None, ...]:
        """The index to blame in each input; empty if the promise can't be computed for changed inputs."""
        inputs = self.of.inputs
        if sum(x.size for x in inputs) > _MOST:
            return ()
        try:
            self._own = self._value({})
            needed = self._needed(range(len(inputs)))
            return tuple(self._in_input(i, small=small) if i in needed else None for i in range(len(inputs)))
        except (ReferenceFault, LookupError):
            return ()

    def _needed(self, numbers: Sequence[int]) -> list[int]:
        """Those of some inputs on which the promise depends; halves are tried, since it may need few inputs."""
        if not numbers or not self._changes({i: np.ones(self.of.inputs[i].shape, bool) for i in numbers}):
            return []
        half = len(numbers) // 2
        return [*self._needed(numbers[:half]), *self._needed(numbers[half:])] if half else [*numbers]

    def _in_input(self, number: int, *, small: bool) -> Index:
        """The index to blame in an input on which the promise depends."""
        x = self.of.inputs[number]
        if x.shape == self._shape and not self._changes({number: ~_places(self.index, x)}):
            return self.index
        order = _order(x, small=small)
        rank = np.empty(x.shape, int)
        rank.reshape(-1)[order] = np.arange(x.size)
        low, high = 0, x.size  # the promise stays if the first `low` elements change, not if the first `high` do
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._changes({number: rank < middle}) else (middle, high)
        return tuple(int(i) for i in np.unravel_index(order[low], x.shape))

    def _changes(self, where: Mapping[int, np.ndarray]) -> bool:
        """Whether the promise changes if other, ordinary numbers stand at some places of some inputs."""
        return bool(differing(self._value(where), self._own).any())

    def _value(self, where: Mapping[int, np.ndarray]) -> np.ndarray:
        """The promised element for such changed inputs, as an array of one.

        Raises:
          LookupError: there is no such promise, or it has no such element.
        """
        value = self.of.promised(self.quantity, where)[self.quantity].value
        if value is None:
            raise LookupError("the promise has no elements")
        self._shape = value.shape
        return np.asarray(value[self.index]).reshape(1)


def _places(index: Index, x: np.ndarray) -> np.ndarray:
    """A mask of the shape of an array that is true at one index."""
    where = np.zeros(x.shape, bool)
    where[index] = True
    return where


def _order(x: np.ndarray, *, small: bool) -> np.ndarray:
    """The places of an input in the order in which they are blamed: numbers that are not finite, then by size."""
    if x.dtype.kind not in "biufc" and not is_float(x.dtype):
        return np.arange(x.size)
    size = np.abs(x.ravel().astype(np.complex128 if x.dtype.kind == "c" else np.float64))
    special = ~np.isfinite(size)
    size = np.where(special, 0, size)
    return np.lexsort((size if small else -size, ~special))


def _ordinary(x: np.ndarray) -> tuple[Any, Any]:
    """Two numbers in the domain of the op: the simplest ones of an array that are finite and not zero, else 1 and 2."""
    if x.dtype.kind == "b":
        return True, False
    flat = x.ravel()
    if x.dtype.kind in "iufc" or is_float(x.dtype):
        flat = flat[np.isfinite(flat.astype(np.complex128)) & (flat != 0)]
    simplest = flat[first([flat])] if flat.size else np.ones((), x.dtype)[()]
    flat = flat[flat != simplest]
    return simplest, flat[first([flat])] if flat.size else simplest + simplest
