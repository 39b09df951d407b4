"""Cuts: the inputs of a discrepancy reduced to the element, row or plane that it is about.

Only the promise decides: a cut stays if the promised value of the element stays. Whether the program
with the reduced inputs still shows the discrepancy is known when it has run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.repro.discrepancy import Discrepancy, promise_of
from tf_opdiff.harness.spec.kinds import KIND, OF_ARRAYS
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import BY_PATTERNS

#: Elements: inputs that have no more together are not cut.
SMALL = 4
#: Inputs: if there are more, none is cut alone.
_FEW = 4


def of_one_element(discrepancy: Discrepancy) -> Discrepancy | None:
    """The discrepancy reduced to its one element; None if some input has no element at that index."""
    index, inputs = discrepancy.index, discrepancy.inputs
    if index is None or not inputs or discrepancy.kind in OF_ARRAYS:
        return None
    shape = inputs[0].shape
    if {x.shape for x in inputs} != {shape} or len(index) != len(shape) or inputs[0].size < 2:
        return None
    if any(i >= n for i, n in zip(index, shape, strict=True)):
        return None

    def element(array: np.ndarray) -> np.ndarray:
        return array[index].reshape(1) if array.shape == shape else array

    sent = with_upstreams(discrepancy)
    upstreams = sent.upstreams and tuple(None if g is None else element(g) for g in sent.upstreams)
    tangents = sent.tangents and tuple(map(element, sent.tangents))
    return replace(sent, inputs=tuple(map(element, inputs)), upstreams=upstreams, tangents=tangents, index=(0,))


def of_copies(discrepancy: Discrepancy) -> Discrepancy | None:
    """The discrepancy with copies of its one element in place of all others; None as for `of_one_element`."""
    index, one = discrepancy.index, of_one_element(discrepancy)
    if one is None or index is None or discrepancy.case.recipe in BY_PATTERNS:
        return None
    shape = discrepancy.inputs[0].shape

    def copies(array: np.ndarray) -> np.ndarray:
        return np.broadcast_to(array, shape).copy() if array.shape == (1,) else array

    upstreams = one.upstreams and tuple(None if g is None else copies(g) for g in one.upstreams)
    tangents = one.tangents and tuple(map(copies, one.tangents))
    return replace(one, inputs=tuple(map(copies, one.inputs)), upstreams=upstreams, tangents=tangents, index=index)


def with_upstreams(discrepancy: Discrepancy) -> Discrepancy:
    """The discrepancy with its upstreams and tangents as arrays, so that they can be cut as the inputs are.

    Of a sweep or search, and of an output, they need not be: there, they follow from the inputs or are not sent.
    """
    if discrepancy.upstreams is not None or discrepancy.tangents is not None:
        return discrepancy
    if discrepancy.case.recipe in BY_PATTERNS or family_of(discrepancy.quantity) in ("", "output"):
        return discrepancy
    try:
        expected = promise_of(discrepancy, bounds=False)
    except ReferenceFault:
        return discrepancy
    return replace(discrepancy, upstreams=expected.upstreams, tangents=expected.tangents)


@dataclass(frozen=True)
class _Cut:
    """A cut at one axis of the result, `axis` counted from the front or, if negative, from the back."""

    axis: int
    size: int
    at: int

    def of(self, array: np.ndarray) -> np.ndarray:
        """The array, with the one element along the axis if it is as long there as the result."""
        if not -array.ndim <= self.axis < array.ndim or array.shape[self.axis] != self.size:
            return array
        return np.take(array, [self.at], self.axis)


@np.errstate(all="ignore")
def cut(discrepancy: Discrepancy) -> Discrepancy | None:
    """The discrepancy with smaller inputs, upstreams and tangents; None if none are smaller."""
    if discrepancy.case.recipe in BY_PATTERNS or KIND[discrepancy.kind].itself:
        return None
    if len({x.shape for x in discrepancy.inputs}) == 1 and discrepancy.inputs[0].ndim < 2 and discrepancy.index:
        return None  # it is that of one element
    if sum(x.size for x in discrepancy.inputs) <= SMALL:
        return None
    whole = smallest = with_upstreams(discrepancy)
    want = _want(whole)
    if want is None or (want.value is None and want.raises is None):
        return None
    rank = max(x.ndim for x in whole.inputs) if want.value is None else np.ndim(want.value)
    if whole.index is None and want.value is not None:
        smallest = replace(whole, index=(0,) * rank)
    for axis in [*range(rank), *range(-1, -rank - 1, -1)]:
        tried = (_tried(smallest, want, axis, only) for only in _subsets(smallest))
        smallest, want = next(filter(None, tried), (smallest, want))
    if all(a.shape == b.shape for a, b in zip(whole.inputs, smallest.inputs, strict=True)):
        return None
    return replace(smallest, index=None if discrepancy.index is None else smallest.index)


def _subsets(discrepancy: Discrepancy) -> Iterator[Sequence[int]]:
    """The inputs to cut at once: all of them, or each alone."""
    every = range(len(discrepancy.inputs))
    yield every
    yield from ([i] for i in every) if 1 < len(every) <= _FEW else ()


def _tried(whole: Discrepancy, before: Want, axis: int, only: Sequence[int]) -> tuple[Discrepancy, Want] | None:
    """The discrepancy cut at an axis of its result, in some inputs, and its promise; `before` is that of the whole.

    None if that cuts or keeps nothing.
    """
    shape = whole.inputs[0].shape if before.value is None else np.shape(before.value)
    if not -len(shape) <= axis < len(shape) or shape[axis] < 2:
        return None
    at = 0 if whole.index is None or len(whole.index) != len(shape) else whole.index[axis]
    one = _Cut(axis, shape[axis], at)
    inputs = tuple(one.of(x) if i in only else x for i, x in enumerate(whole.inputs))
    if all(a.shape == b.shape for a, b in zip(inputs, whole.inputs, strict=True)):
        return None
    index = (
        None if whole.index is None else tuple(0 if i == axis % len(shape) else n for i, n in enumerate(whole.index))
    )
    upstreams = whole.upstreams and tuple(None if g is None else one.of(g) for g in whole.upstreams)
    tangents = whole.tangents and tuple(map(one.of, whole.tangents))
    smaller = replace(whole, inputs=inputs, upstreams=upstreams, tangents=tangents, index=index)
    after = _want(smaller)
    return (smaller, after) if after is not None and _same(before, whole.index, after, index) else None


def _want(discrepancy: Discrepancy) -> Want | None:
    """The promise without its bounds; None if the reference does not take these inputs."""
    try:
        return promise_of(discrepancy, bounds=False).wants.get(discrepancy.quantity)
    except (ReferenceFault, ValueError, IndexError, TypeError):
        return None


def _same(one: Want, index: tuple[int, ...] | None, other: Want, at: tuple[int, ...] | None) -> bool:
    """Whether two promises have the same status and the same value of an element."""
    if (one.status, one.dtype, one.raises) != (other.status, other.dtype, other.raises):
        return False
    if one.value is None or other.value is None or index is None or at is None or one.dtype is None:
        return one.value is None and other.value is None
    try:
        return str(one.value.astype(one.dtype)[index]) == str(other.value.astype(one.dtype)[at])
    except IndexError:
        return False
