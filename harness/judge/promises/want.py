"""Want: the promise for one quantity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.repeat import differing
from tf_opdiff.harness.spec.contract import Raises
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.tolerances.by_mode import ByMode, in_mode


@dataclass(frozen=True)
class Want:
    """The promise for one quantity.

    `value` may be wider than `dtype`, the required dtype of the result. Its elements may be off by `budget` ULPs or by
    `bound`, the absolute error of each element if the spec has a bound, but by no more than `ceiling`, in ULPs, if the
    spec has measured ceilings. Where these depend on the mode, `budgets`, `bounds` and `ceilings` have them by family
    of modes until `in_mode` chooses.
    `undocumented` says why no result is promised: any value and any error keeps the promise, or what another plan gave.
    `plain` is the value of the reference if a side of the contract promises another one. `alternatives` are further
    arrays of the shape of `value`. `groups` has the number of the whole alternative that each of them belongs to: a
    result is right if each element keeps one of the arrays of one group. It has 0 for an array that any element may
    keep by itself; where `groups` ends, all are such arrays. `unsigned_zeros`: a zero of either sign keeps the promise.
    `of_plan`: the promise is the result of another plan.
    """

    status: str
    value: np.ndarray | None = None
    dtype: np.dtype | None = None
    indices: np.ndarray | None = None
    shape: tuple[int, ...] | None = None
    raises: Raises | None = None
    budget: float = 0.0
    bound: np.ndarray | None = None
    plain: np.ndarray | None = None
    alternatives: tuple[np.ndarray, ...] = ()
    groups: tuple[int, ...] = ()
    unsigned_zeros: bool = False
    budgets: ByMode | None = None
    bounds: ByMode | None = None
    ceiling: np.ndarray | None = None
    ceilings: ByMode | None = None
    undocumented: str = ""
    of_plan: bool = False

    @classmethod
    def of(cls, result: Result) -> Want:
        """The result of another plan as the promise."""
        if result.status != "value" and result.status != "sparse":
            return cls(result.status, raises=None if result.status == "unconnected" else Raises(result.code))
        assert result.value is not None
        return cls(result.status, result.value, result.value.dtype, result.indices, result.shape)

    def in_mode(self, mode: str) -> Want:
        """The promise with the budget, the bound and the ceiling that apply in a mode."""
        if self.budgets is None and self.bounds is None and self.ceilings is None:
            return self
        budget = in_mode(self.budget if self.budgets is None else self.budgets, mode)
        bound = in_mode(self.bound if self.bounds is None else self.bounds, mode)
        ceiling = in_mode(self.ceiling if self.ceilings is None else self.ceilings, mode)
        chosen = {"budget": budget, "bound": bound, "ceiling": ceiling}
        return replace(self, **chosen, budgets=None, bounds=None, ceilings=None)

    def limits(self, unit: np.ndarray) -> tuple[float | np.ndarray, np.ndarray | None]:
        """The budget in ULPs and the bound, neither above the ceiling; `unit` is the ULP of each element."""
        if self.ceiling is None:
            return self.budget, self.bound
        bound = None if self.bound is None else np.minimum(self.bound, self.ceiling * unit)  # NaN, which allows nothing
        return np.minimum(self.budget, self.ceiling), bound

    def allowed(self, unit: np.ndarray) -> np.ndarray:
        """The largest allowed absolute error of each element; `unit` is the ULP of each element."""
        ulps, bound = self.limits(unit)
        return np.asarray(ulps * unit if bound is None else np.fmax(ulps * unit, bound))

    def from_other(self, result: Result, other: Want) -> Want:
        """Another result as the promise, with this promise's rule for zeros; `other` is the other result's own promise.

        Each result may be off by what its own promise allows, in opposite directions, so budget, bound and ceiling are
        the sums of both.
        Where this promise has several values, the other result may be any of them, and so may the result itself; see
        `exactly`.
        """
        bound = None if self.bound is None or other.bound is None else self.bound + other.bound
        if bound is not None and result.value is not None and not _fits(bound, result.value):
            bound = bound.max(initial=0)  # the result has another shape than the promise, and so has the bound
        ceiling = None if self.ceiling is None or other.ceiling is None else self.ceiling + other.ceiling
        if ceiling is not None and (result.value is None or result.value.shape != ceiling.shape):
            ceiling = None
        of_both: dict[str, Any] = {"budget": self.budget + other.budget, "bound": bound, "ceiling": ceiling}
        want = replace(Want.of(result), **of_both, plain=self.plain, unsigned_zeros=self.unsigned_zeros)
        want = replace(want, undocumented=self.undocumented, of_plan=True)
        if want.raises and self.raises:
            want = replace(want, raises=replace(want.raises, without_kernel=self.raises.without_kernel))
        if not self.alternatives or self.value is None or want.value is None or want.value.shape != self.value.shape:
            return want
        ambiguous = self.ambiguous
        values = [np.where(ambiguous, value, want.value) for value in (self.value, *self.alternatives)]
        return replace(want, alternatives=tuple(values))

    @property
    def exactly(self) -> Want | None:
        """The result of another plan, without the other values that both promises allow; None if there are none."""
        if not self.of_plan or not (self.alternatives or self.unsigned_zeros):
            return None
        return replace(self, alternatives=(), groups=(), unsigned_zeros=False, of_plan=False)

    @property
    def apart(self) -> list[np.ndarray]:
        """The alternatives that each element may keep by itself."""
        return [other for group, other in self._grouped() if not group]

    @property
    def wholes(self) -> list[list[np.ndarray]]:
        """The whole alternatives: the arrays of each group."""
        groups: dict[int, list[np.ndarray]] = {}
        for group, other in self._grouped():
            if group:
                groups.setdefault(group, []).append(other)
        return [*groups.values()]

    def _grouped(self) -> Iterable[tuple[int, np.ndarray]]:
        groups = (*self.groups, *(0 for _ in self.alternatives[len(self.groups) :]))
        return zip(groups, self.alternatives, strict=True)

    @property
    def ambiguous(self) -> np.ndarray:
        """The elements at which the alternatives differ from the promise once they are rounded; of its shape."""
        assert self.value is not None
        with np.errstate(all="ignore"):
            rounded = self.value.astype(self.dtype)
            others = [differing(value.astype(self.dtype), rounded) for value in self.alternatives]
        return np.logical_or.reduce([np.zeros(rounded.shape, bool), *others])


def _fits(bound: np.ndarray, value: np.ndarray) -> bool:
    """Whether a bound can be broadcast to the shape of a value."""
    sizes = zip(reversed(bound.shape), reversed(value.shape), strict=False)
    return bound.ndim <= value.ndim and all(size in (1, other) for size, other in sizes)


#: The statuses of promises that document no result: any value and any error keeps the first, any value the other.
UNDOCUMENTED, ANY_VALUE = "undocumented", "any value"
#: The promise for a quantity that the spec does not mention: the run must not give it.
NOTHING = Want("nothing")


def unlisted(wants: Iterable[Want]) -> Want:
    """The promise for a quantity that the promises of a case do not mention: none if nothing documents its result."""
    why = next((want.undocumented for want in wants if want.undocumented), "")
    return Want(UNDOCUMENTED, undocumented=why) if why else NOTHING


def positive_zeros(array: np.ndarray) -> np.ndarray:
    """Floats with +0 in place of each -0; other arrays unchanged."""
    return array + np.zeros((), array.dtype) if array.dtype.kind == "c" or is_float(array.dtype) else array


def result_dtype(value: np.ndarray, dtype: np.dtype) -> np.dtype:
    """The required dtype for a reference's result: the case's dtype if the result is in a wide dtype.

    Of a case of real numbers, a result in complex long doubles promises complex numbers of two of these.
    """
    if value.dtype == np.clongdouble and dtype in (np.float32, np.float64):
        return np.dtype(f"c{2 * dtype.itemsize}")
    if value.dtype in (np.complex128, np.clongdouble) and dtype.kind == "c":
        return dtype
    if value.dtype not in (np.float64, np.longdouble):
        return value.dtype
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}")
    return dtype if is_float(dtype) else value.dtype
