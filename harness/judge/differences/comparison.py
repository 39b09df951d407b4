"""Comparison: the difference between an observed result and the promised one, in one line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from tf_opdiff.harness.spec.kinds import KINDS


@dataclass(frozen=True, eq=False)
class Distances:
    """The distance of each element of a float result from the promise, as arrays of the result's shape.

    Attributes:
      ulps: the distances in ULPs; 0 where either number is not finite.
      wrong_class: whether the class is wrong: NaN, infinity, the sign of a zero, a flushed subnormal number.
      mismatched: whether the element differs by more than allowed.
    """

    ulps: np.ndarray
    wrong_class: np.ndarray
    mismatched: np.ndarray

    @classmethod
    def of_parts(cls, real: Self, imaginary: Self) -> Self:
        """The distances of complex numbers: the larger distance of the two parts, and what is wrong in either."""
        return cls(
            np.maximum(real.ulps, imaginary.ulps),
            real.wrong_class | imaginary.wrong_class,
            real.mismatched | imaginary.mismatched,
        )


@dataclass(frozen=True, eq=False)
class Elements:
    """The elements of a result and of its promise, as arrays of one shape.

    Attributes:
      got: the result.
      want: the promise, rounded to the dtype of the result.
      wrong: for each kind that occurs, the elements that differ by it.
      ulps: the distances in ULPs of the result's dtype; 0 where either number is not finite, NaN without ULPs.
      absolute: the absolute distances; 0 where either number is not finite, NaN for texts.
    """

    got: np.ndarray
    want: np.ndarray
    wrong: Mapping[str, np.ndarray]
    ulps: np.ndarray
    absolute: np.ndarray

    @classmethod
    def exact(cls, got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> Self:
        """The elements of integers, booleans or texts, which differ by their value where `wrong` is true."""
        absolute = np.full(got.shape, math.nan)
        if got.dtype.kind in "iub":
            absolute = np.abs(got.astype(np.longdouble) - want.astype(np.longdouble))
        return cls(got, want, {"value": wrong} if wrong.any() else {}, np.full(got.shape, math.nan), absolute)

    @classmethod
    def of_parts(cls, got: np.ndarray, want: np.ndarray, real: Self, imaginary: Self) -> Self:
        """The elements of complex numbers: the larger distance of the two parts, and what is wrong in either."""
        none = np.zeros(got.shape, bool)
        kinds = dict.fromkeys((*real.wrong, *imaginary.wrong))
        wrong = {kind: real.wrong.get(kind, none) | imaginary.wrong.get(kind, none) for kind in kinds}
        ulps, absolute = np.maximum(real.ulps, imaginary.ulps), np.maximum(real.absolute, imaginary.absolute)
        return cls(got, want, wrong, ulps, absolute)

    @property
    def every_wrong(self) -> np.ndarray:
        """The elements that differ by any kind."""
        return np.logical_or.reduce([np.zeros(self.got.shape, bool), *self.wrong.values()])

    def as_kind(self, kind: str) -> Elements:
        """A copy whose differing elements all differ by this kind."""
        return replace(self, wrong={kind: self.every_wrong})


@dataclass(frozen=True)
class Element:
    """One element of a result: its index, the observed value and the promised value."""

    index: tuple[int, ...]
    got: str
    want: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The difference between an observed result and the promised one. `kind` is empty if there is none.

    A result may differ by several kinds. A comparison shows one of them; `others` show the other ones. `count` is the
    number of elements of the shown kind, `mismatched` the number of all elements that differ. `index` is the index of
    the worst element of the shown kind, and `distance` its distance in words. `simplest` is the element of the same
    kind with the simplest input. `max_ulp` and `max_abs` are over all finite elements, also those within the budget. A
    bound allows different distances for different elements: `max_ulp` and `budget` are then those of the element that
    comes nearest to its allowed distance, or exceeds it most. `distances` are those of all elements of a real or
    complex result; None for others. `elements` are all elements of a comparison of arrays; None for others.
    `without_kernel`: the promise is the error of a device without a kernel. `undocumented` says why no result is
    promised, or why two plans may differ; `got` and `want` then have those of both plans, if they differ.

    Elements at the edge of the normal numbers (`harness.judge.differences.edge`) are shown only where no other element
    of the kind differs, and `at_edge` is true there. `counted_ulp` is the distance of the shown worst element, by which
    `harness.judge.verdicts.severity` judges; NaN if none was taken. `simplest` is an element that has the same
    severity.
    """

    kind: str = ""
    count: int = 0
    size: int = 0
    mismatched: int = 0
    max_ulp: float = math.nan
    max_abs: float = math.nan
    budget: float = math.nan
    index: tuple[int, ...] | None = None
    got: str = ""
    want: str = ""
    detail: str = ""
    distance: str = ""
    simplest: Element | None = None
    others: tuple[Comparison, ...] = ()
    distances: Distances | None = field(default=None, repr=False, compare=False)
    elements: Elements | None = field(default=None, repr=False, compare=False)
    without_kernel: bool = False
    counted_ulp: float = math.nan
    at_edge: bool = False
    undocumented: str = ""

    @classmethod
    def joined(cls, each: Sequence[Comparison]) -> Comparison:
        """One comparison of several that show a kind each; it shows the first of them."""
        return replace(each[0], others=tuple(each[1:]))

    @property
    def each(self) -> tuple[Comparison, ...]:
        """A comparison for each kind that occurs, in the order of `harness.spec.kinds.KINDS`."""
        shown = [replace(one, others=()) for one in (self, *self.others) if one.kind]
        return tuple(sorted(shown, key=lambda one: KINDS.index(one.kind)))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that occur, in the order of `harness.spec.kinds.KINDS`."""
        return tuple(one.kind for one in self.each) if self.others else (self.kind,) if self.kind else ()

    def showing(self, kind: str) -> Comparison:
        """A copy of the comparison that shows this kind, which must occur."""
        if kind == self.kind:
            return self
        each = self.each
        shown = next(one for one in each if one.kind == kind)
        return replace(shown, others=tuple(one for one in each if one.kind != kind))

    def as_kind(self, kind: str, **changes: Any) -> Comparison:
        """A copy of the comparison as a difference of this kind alone; `changes` are further attributes."""
        each = (self, *self.others)
        counted = {
            "counted_ulp": float(np.fmax.reduce([one.counted_ulp for one in each])),
            "at_edge": all(one.at_edge for one in each),
            "elements": self.elements and self.elements.as_kind(kind),
        }
        return replace(self, kind=kind, count=self.mismatched, others=(), **{**counted, **changes})
