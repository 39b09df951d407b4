"""Difference: the class and the distance of each element of a real array from the promised one.

Classes come before distances: NaN, infinite by sign, zero by sign, subnormal; then the distance of finite numbers in
units in the last place of the promised value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.differences import wording
from tf_opdiff.harness.judge.differences.comparison import Comparison, Distances, Element, Elements
from tf_opdiff.harness.judge.differences.edge import at_edge
from tf_opdiff.harness.judge.differences.simplest import first
from tf_opdiff.harness.judge.verdicts.severity import half_of_bits

_EXPONENT = np.uint64(0x7FF0_0000_0000_0000)


@dataclass(frozen=True)
class Differences:
    """The distance of each element of a result, and the wrong elements by kind.

    `ulps` and `absolute` are 0 where either number is not finite. `want` is the promise before rounding, `rounded` the
    promise in the result's dtype. `allowed` is the largest allowed distance in ULPs; None if it is one budget.
    """

    classes: Mapping[str, np.ndarray]
    ulps: np.ndarray
    absolute: np.ndarray
    want: np.ndarray
    rounded: np.ndarray
    allowed: np.ndarray | None = None

    @property
    def wrong(self) -> np.ndarray:
        """The elements that differ by more than allowed."""
        return np.logical_or.reduce(list(self.classes.values()))

    @property
    def wrong_class(self) -> np.ndarray:
        """The elements whose class is wrong."""
        return np.logical_or.reduce([where for kind, where in self.classes.items() if kind != "value"])

    def comparison(self, got: np.ndarray, budget: float, inputs: Sequence[np.ndarray] = ()) -> Comparison:
        """The difference in one line for each kind that occurs: its worst and its simplest element.

        `inputs` are the inputs of the op.
        """
        largest, badness = float(self.ulps.max(initial=0.0)), self.ulps
        if self.allowed is not None and got.size:
            with np.errstate(divide="ignore", invalid="ignore"):  # the allowed and the actual distance may be 0
                badness = np.where(self.ulps > 0, self.ulps / self.allowed, 0.0)
            worst = np.unravel_index(np.argmax(badness), got.shape)
            largest, budget = float(self.ulps[worst]), float(self.allowed[worst])
        absolute = float(self.absolute.max(initial=0.0))
        wrong = self.wrong
        distances = Distances(self.ulps, self.wrong_class, wrong)
        within = Comparison(size=got.size, max_ulp=largest, max_abs=absolute, budget=budget, distances=distances)
        within = replace(within, elements=self.elements(got))
        if not wrong.any():
            return within
        within, edge = replace(within, mismatched=int(wrong.sum())), at_edge(got, self.rounded, inputs)
        each = []
        for kind, where in self.classes.items():
            if kind == "value" and where.any():
                each.append(self._values(within, got, inputs, where, (badness, edge)))
            elif where.any():
                at = position(np.argmax(np.where(where, badness, -1.0)), got.shape)
                easy = self.element(got, simplest(where, inputs, self.rounded))
                one = replace(within, kind=kind, count=int(where.sum()), **vars(self.element(got, at)), simplest=easy)
                each.append(replace(one, at_edge=kind == "subnormal"))
        return Comparison.joined(each)

    def _values(
        self,
        within: Comparison,
        got: np.ndarray,
        inputs: Sequence[np.ndarray],
        where: np.ndarray,
        order: tuple[np.ndarray, np.ndarray],
    ) -> Comparison:
        """The comparison that shows the wrong values, at least one: the worst, and the simplest as severe as it.

        `order` has the badness of each element, and whether it is at the edge; such elements are shown if all are.
        """
        badness, edge = order
        counted = where & ~edge if (where & ~edge).any() else where
        at = position(np.argmax(np.where(counted, badness, -1.0)), got.shape)
        ulps = float(self.ulps[at])
        far = counted & (self.ulps > half_of_bits(got.dtype))
        alike = far if ulps > half_of_bits(got.dtype) else counted
        detail, left = "", where & edge & ~counted
        if left.any() and badness[left].max() > badness[at]:
            worst = position(np.argmax(np.where(left, badness, -1.0)), got.shape)
            detail = wording.left_out(int(left.sum()), self.distance(got, worst, within.budget))
        return replace(
            within,
            kind="value",
            count=int(where.sum()),
            **vars(self.element(got, at)),
            distance=self.distance(got, at, within.budget),
            simplest=self.element(got, simplest(alike, inputs, self.rounded)),
            detail=detail,
            counted_ulp=ulps,
            at_edge=bool(edge[at]),
        )

    def elements(self, got: np.ndarray) -> Elements:
        """All elements, with those that differ by each kind that occurs."""
        wrong = {kind: where for kind, where in self.classes.items() if where.any()}
        return Elements(got, self.rounded, wrong, self.ulps, self.absolute)

    def element(self, got: np.ndarray, at: tuple[int, ...]) -> Element:
        """The observed and the promised value at an index, as two different texts."""
        return Element(at, *wording.pair(got[at], self.rounded[at], self.want[at]))

    def distance(self, got: np.ndarray, at: tuple[int, ...], budget: float) -> str:
        """The distance of an element in words; without a bound, `budget` ULPs are allowed."""
        allowed = budget if self.allowed is None else float(self.allowed[at])
        return wording.distance(got[at], self.want[at], float(self.ulps[at]), allowed)


def position(flat: np.integer | int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index, in an array of this shape, of the element at a place in the flat order."""
    return tuple(int(i) for i in np.unravel_index(flat, shape))


def simplest(where: np.ndarray, inputs: Sequence[np.ndarray], want: np.ndarray) -> tuple[int, ...]:
    """The index of the element with the simplest input among those where `where` is true, at least one.

    An element's input is the value at its index of each input with the result's shape. If no input has that shape, the
    promise counts as the input.
    """
    flat = np.flatnonzero(where)
    columns = [x for x in inputs if x.shape == where.shape] or [want]
    return position(flat[first([x.ravel()[flat] for x in columns])], where.shape)


def ulp_of(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The unit in the last place of a dtype at each value; values are finite float64, and so are the units.

    With p the number of mantissa bits: 2^(floor(log2 |x|) - p), and no less than the smallest subnormal
    (Muller et al., Handbook of Floating-Point Arithmetic, section 2.3.1).
    """
    info = ml_dtypes.finfo(dtype)
    if value.dtype == dtype == np.float32:
        size = (value.view(np.uint32) & np.uint32(0x7F80_0000)).view(np.float32) * info.eps
        return np.maximum(size, info.smallest_subnormal, dtype=np.float64)
    power = np.asarray(value, np.float64).view(np.uint64) & _EXPONENT  # of two, below |x|; 0 for a subnormal
    return np.maximum(power.view(np.float64) * 2.0**-info.nmant, float(info.smallest_subnormal))


def differences(
    got: np.ndarray,
    want: np.ndarray,
    dtype: np.dtype,
    *,
    budget: float | np.ndarray = 0.0,
    bound: np.ndarray | None = None,
) -> Differences:
    """Compares real arrays of equal shape; `got` is in `dtype`, `want` in `dtype` or a wider dtype.

    The budget may have an element for each of theirs.
    """
    rounded = want.astype(dtype)
    wide = np.longdouble if want.dtype == np.longdouble else np.float64
    g, w, exact = got.astype(np.float64), rounded.astype(np.float64), want.astype(wide)
    finite = np.isfinite(g) & np.isfinite(w)
    zero_g, zero_w = g == 0, w == 0
    normal = float(ml_dtypes.finfo(dtype).smallest_normal)
    difference = np.where(finite, np.abs(np.where(finite, g, 0) - np.where(finite, exact, 0)), 0.0)
    unit = ulp_of(np.where(finite, w, 0.0), dtype)
    ulps = difference / unit
    far, allowed = finite & (ulps > budget), budget if isinstance(budget, np.ndarray) else None
    if bound is not None:
        far &= ~(difference <= bound)  # a NaN as bound allows nothing
        allowed = np.where(finite, np.fmax(budget, bound / unit), budget)
    flushed = far & zero_g & ~zero_w & (np.abs(w) < normal) & (np.signbit(g) == np.signbit(w))
    classes = {
        "nan": np.isnan(g) != np.isnan(w),
        "inf": ~np.isnan(g) & ~np.isnan(w) & (np.isinf(g) | np.isinf(w)) & (g != w),
        "signed_zero": zero_g & zero_w & (np.signbit(g) != np.signbit(w)),
        "subnormal": flushed,
        "value": far & ~flushed,
    }
    return Differences(classes, ulps, difference, want, rounded, allowed)
