"""Slope check: compares a gradient with differences of the reference, where the user gives no gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.checking.differences import Slope, slopes
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.promises.expectation import widened
from tf_opdiff.harness.judge.promises.reference import guarded, without_tensorflow
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.store.records.record import Record

#: The least relative error that is allowed, and the epsilons of the gradient's dtype that are allowed instead of it.
_RELATIVE, _EPSILONS = 1e-3, 64
_WHY = "differences of the reference give the expected gradient; vjp= gives another one"


@dataclass
class SlopeCheck:
    """Compares the gradients of a callable under a plan with differences of its reference, case by case.

    Attributes:
      records: the differences that were found, a record for each case and input.
    """

    reference: Callable[..., Any]
    plan: Plan
    records: list[Record] = field(default_factory=list)
    _wanted: set[int] = field(default_factory=set)
    _tested: set[int] = field(default_factory=set)

    def add(
        self, case: Case, inputs: Sequence[np.ndarray], upstreams: Sequence[np.ndarray | None], seen: Observation
    ) -> None:
        """Compares the gradients of one case."""
        wide = [widened(x) for x in inputs]
        weights = [None if g is None or g.dtype.kind == "c" else g.astype(np.float64) for g in upstreams]
        for number, x in enumerate(inputs):
            if not (is_float(x.dtype) or x.dtype.kind == "c"):
                continue
            self._wanted.add(number)
            got = _dense(seen.quantities[str(Quantity("grad", number))], x.shape)
            if got is None or not is_float(x.dtype) or not any(g is not None for g in weights):
                continue
            if not (known := self._slopes(case, wide, weights, number)):
                continue
            self._tested.add(number)
            if off := _off(got, known, x.dtype):
                self.records.append(self._record(case, number, x, len(known), off, seen))

    def _slopes(
        self, case: Case, inputs: Sequence[np.ndarray], upstreams: Sequence[np.ndarray | None], number: int
    ) -> list[Slope]:
        """The slopes of the reference; none if it fails, which the comparison of the outputs reports."""
        try:
            with guarded("reference", case), without_tensorflow():
                return slopes(self.reference, inputs, upstreams, number)
        except (Exception, SystemExit):  # noqa: BLE001  whatever the user's function raises
            return []

    @property
    def untested(self) -> str:
        """Why the gradient of an input was not tested in any case; empty if that of each was."""
        missing = sorted(self._wanted - self._tested)
        if not missing:
            return ""
        return (
            f"the gradient of input {missing[0]} was not tested: it can't be taken by differences of the reference; "
            "give vjp= (--vjp), or gradient=False (--no-gradient)"
        )

    def _record(
        self, case: Case, number: int, x: np.ndarray, size: int, off: Sequence[tuple[Slope, float]], seen: Observation
    ) -> Record:
        quantity = str(Quantity("grad", number))
        (first, got), status = off[0], seen.quantities[quantity].status
        place = np.unravel_index(first.index, x.shape)
        connected = status != "unconnected"
        return Record(
            run="check",
            spec=case.spec.name,
            raw_op=seen.raw_op,
            case=case.id,
            dtype=case.dtype,
            recipe=case.recipe,
            device=str(self.plan.device),
            mode=self.plan.mode,
            ran_on=seen.ran_on,
            against="numpy",
            quantity=quantity,
            verdict="mismatch",
            kind="value" if connected else "gradient_status",
            kinds="value" if connected else "gradient_status",
            severity="wrong_gradient",
            size=size,
            mismatched=len(off),
            worst_index=f"[{', '.join(map(str, place))}]" if x.shape else "",
            input=f"{float(x.reshape(-1)[first.index]):.7g}",
            got=f"{got:.7g}" if connected else "unconnected",
            want=_between(first),
            detail=_WHY,
        )


def _off(got: np.ndarray, known: Sequence[Slope], dtype: np.dtype) -> list[tuple[Slope, float]]:
    """The slopes that a gradient does not have, within the errors of rounding of its dtype, and what it has."""
    epsilon = _EPSILONS * float(ml_dtypes.finfo(dtype).eps)
    least = epsilon * max(slope.scale for slope in known)
    relative = max(_RELATIVE, epsilon)
    slack = {slope.index: relative * slope.scale + least for slope in known}
    return [
        (slope, float(value))
        for slope, value in ((slope, got[slope.index]) for slope in known)
        if not slope.low - slack[slope.index] <= value <= slope.high + slack[slope.index]
    ]


def _dense(result: Result, shape: tuple[int, ...]) -> np.ndarray | None:
    """A gradient as a flat array of float64; zeros for one that is not connected; None for an error."""
    if result.status == "unconnected":
        return np.zeros(int(np.prod(shape)))
    if result.value is None or result.status not in ("value", "sparse") or result.value.dtype.kind == "c":
        return None
    value = result.value.astype(np.float64)
    if result.indices is not None:  # an `IndexedSlices`
        whole = np.zeros(shape)
        np.add.at(whole, result.indices, value)
        value = whole
    return value.reshape(-1)


def _between(slope: Slope) -> str:
    """The expected gradient: a number, or an interval at a kink."""
    low, high = f"{slope.low:.5g}", f"{slope.high:.5g}"
    return low if low == high else f"{low} to {high}"
