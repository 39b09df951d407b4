"""Mutation: how many wrong results (mutants) a spec's cases can detect.

A mutant changes the promised result. It is possible on a case if it differs from the promised result there. It is
killed if the comparison rejects it on one case, and alive if it is possible but no case kills it: then the spec's
inputs can't detect that kind of wrong result.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.repeat import differing, same
from tf_opdiff.harness.judge.claim import predicting
from tf_opdiff.harness.judge.compare import compare
from tf_opdiff.harness.judge.difference import ulp_of
from tf_opdiff.harness.judge.expectation import expectation
from tf_opdiff.harness.judge.room import Rooms
from tf_opdiff.harness.judge.want import Want, positive_zeros
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.by_mode import MODE_FAMILIES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.recipes import is_float
from tf_opdiff.harness.spec.spec import Case, Side, Spec

Mutant = Callable[[Result, Sequence[np.ndarray]], Result | None]


def _value(change: Callable[[np.ndarray], np.ndarray | None]) -> Mutant:
    """The mutant that changes a result's array."""

    def mutant(truth: Result, _inputs: Sequence[np.ndarray]) -> Result | None:
        if truth.value is None:
            return None
        value = change(truth.value)
        return None if value is None else replace(truth, value=value)

    return mutant


def _numeric(array: np.ndarray) -> bool:
    return array.dtype.kind in "fciu" or is_float(array.dtype)


def _floating(array: np.ndarray) -> bool:
    return array.dtype.kind == "c" or is_float(array.dtype)


def _where(condition: Callable[[np.ndarray], np.ndarray], new: Callable[[np.ndarray], Any]) -> Mutant:
    return _value(lambda a: np.where(condition(a), new(a), a).astype(a.dtype) if is_float(a.dtype) else None)


def _last(array: np.ndarray) -> np.ndarray | None:
    """The array with a wrong last element, as from a vector loop that skips its tail."""
    if not array.size:
        return None
    changed = array.copy()
    flat = changed.reshape(-1)
    flat[-1] = (not flat[-1]) if array.dtype == bool else b"?" if array.dtype == object else -flat[-1] - 1
    return changed


def _small(array: np.ndarray) -> np.ndarray:
    """Where a float or complex number is below 1/1000 of the largest finite one, and neither subnormal nor zero."""
    size = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    finite, normal = np.isfinite(size), float(ml_dtypes.finfo(_part(array.dtype)).smallest_normal)
    return finite & (size >= normal) & (size < 1e-3 * np.max(size, where=finite, initial=0.0))


def _part(dtype: np.dtype) -> np.dtype:
    """The dtype of the parts of a complex dtype; a real dtype itself."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def _all(array: np.ndarray) -> np.ndarray:
    return np.ones(array.shape, bool)


def _times(factor: Callable[[np.dtype], float], where: Callable[[np.ndarray], np.ndarray]) -> Mutant:
    """The mutant that multiplies the elements that `where` selects by a factor, which may depend on the dtype."""

    def change(array: np.ndarray) -> np.ndarray | None:
        if not _floating(array):
            return None
        return np.where(where(array), array * array.dtype.type(factor(array.dtype)), array).astype(array.dtype)

    return _value(change)


def _half_of_the_digits(dtype: np.dtype) -> float:
    """1 + 2^-(p // 2) with p mantissa bits: 1/32 off in float16, 1/8 in bfloat16, 2^-11 in float32, 2^-26 in float64.

    Fewer than half of the digits are then right, which no application would call the right result.
    """
    return 1 + 2.0 ** -(ml_dtypes.finfo(_part(dtype)).nmant // 2)


def _outside(excused: np.ndarray, mutant: Mutant) -> Mutant:
    """The mutant without its changes to the excused elements."""

    def outside(truth: Result, inputs: Sequence[np.ndarray]) -> Result | None:
        wrong = mutant(truth, inputs)
        if wrong is None or wrong.value is None or truth.value is None or not excused.any():
            return wrong
        return replace(wrong, value=np.where(excused, truth.value, wrong.value).astype(truth.value.dtype))

    return outside


def past(want: Want, budget: float) -> Mutant:
    """The mutant with one wrong element, an ULP beyond budget and bound, where they allow the smallest error."""

    def change(array: np.ndarray) -> np.ndarray | None:
        if not is_float(array.dtype):
            return None
        ulp = ulp_of(np.where(np.isfinite(array), array, 0), array.dtype)
        allowed = np.full(array.shape, budget)
        if want.bound is not None:
            allowed = np.fmax(allowed, want.bound / ulp)
        wrong = array + np.where(array > 0, 1, -1) * (np.floor(allowed + 0.5) + 1) * ulp
        usable = ~want.ambiguous & np.isfinite(array) & (np.abs(wrong) < float(ml_dtypes.finfo(array.dtype).max))
        if not usable.any():
            return None
        changed, at = array.copy(), np.argmin(np.where(usable, allowed, np.inf))
        changed.reshape(-1)[at] = wrong.reshape(-1)[at].astype(array.dtype)
        return changed

    return _value(change)


def _identity(truth: Result, inputs: Sequence[np.ndarray]) -> Result | None:
    """The first input with the result's shape and dtype, in place of the result."""
    if truth.value is None:
        return None
    same = (x for x in inputs if x.shape == truth.value.shape and x.dtype == truth.value.dtype)
    first = next(same, None)
    return None if first is None else replace(truth, value=first)


def _dropped(truth: Result, _inputs: Sequence[np.ndarray]) -> Result | None:
    return None if truth.status in ("unconnected", "error") else Result("unconnected")


def _connected(truth: Result, inputs: Sequence[np.ndarray]) -> Result | None:
    """Zeros where the gradient should be unconnected."""
    return Result("value", np.zeros_like(inputs[0])) if truth.status == "unconnected" and inputs else None


def _raised(truth: Result, _inputs: Sequence[np.ndarray]) -> Result | None:
    return None if truth.status == "error" else Result("error", code="INTERNAL", message="planted")


def _swallowed(truth: Result, inputs: Sequence[np.ndarray]) -> Result | None:
    return Result("value", np.zeros_like(inputs[0])) if truth.status == "error" and inputs else None


def _other_error(truth: Result, _inputs: Sequence[np.ndarray]) -> Result | None:
    return replace(truth, code="UNKNOWN") if truth.status == "error" and truth.code != "UNKNOWN" else None


MUTANTS: dict[str, Mutant] = {
    "zeros": _value(np.zeros_like),
    "ones": _value(lambda a: np.ones_like(a) if a.dtype != object else None),
    "identity": _identity,
    "sign flipped": _value(lambda a: -a if _numeric(a) else None),
    "negated": _value(lambda a: ~a if a.dtype == bool else None),
    "last element": _value(_last),
    "rolled": _value(lambda a: np.roll(a, 1)),
    "transposed": _value(lambda a: a.T if a.ndim > 1 else None),
    "reduced": _value(lambda a: a[:1] if a.ndim and a.shape[0] > 1 else None),
    "halved": _value(lambda a: (a / 2).astype(a.dtype) if _floating(a) else None),
    "widened": _value(lambda a: a.astype(np.float64) if is_float(a.dtype) and a.itemsize < 8 else None),
    "NaN to 0": _where(np.isnan, lambda a: 0),
    "inf to max": _where(np.isinf, lambda a: np.copysign(ml_dtypes.finfo(a.dtype).max, a)),
    "-0 to +0": _where(lambda a: a == 0, lambda a: 0),
    "subnormal to 0": _where(
        lambda a: (a != 0) & (np.abs(a) < ml_dtypes.finfo(a.dtype).smallest_normal), lambda a: np.copysign(0, a)
    ),
    "dropped": _dropped,
    "zeros for none": _connected,
    "raised": _raised,
    "swallowed": _swallowed,
    "other error": _other_error,
}


#: Mutants of specs of one op. They leave the elements alone whose wide room is excused: see `harness.judge.room`.
STRICT: dict[str, Mutant] = {
    "relative error": _times(_half_of_the_digits, _all),
    "small to 0": _times(lambda dtype: 0.0, _small),
    "small negated": _times(lambda dtype: -1.0, _small),
}


@dataclass
class Score:
    """Counts by name and quantity of the mutants that were possible, and of those that were killed."""

    possible: dict[str, int] = field(default_factory=dict)
    killed: dict[str, int] = field(default_factory=dict)

    @property
    def alive(self) -> list[str]:
        """The mutants that were possible and that no case killed."""
        return sorted(name for name in self.possible if not self.killed.get(name))


def truth(want: Want) -> Result:
    """The observation that keeps a promise."""
    if want.raises is not None:
        return Result("error", code=want.raises.code, message=want.raises.says)
    value = None if want.value is None else np.asarray(want.value.astype(want.dtype))
    return Result(want.status, value, want.indices, want.shape)


def _judged(result: Result, want: Want) -> Result:
    """The result after the comparison's own conversion: zeros are positive if either sign is right."""
    if result.value is None or not want.unsigned_zeros:
        return result
    return replace(result, value=positive_zeros(result.value))


def _permitted(result: Result, want: Want, budget: float) -> bool:
    """Whether each element of a result is right: equal to the promise or an alternative, or a zero within the budget.

    A zero is within a budget of n ULPs of the n smallest subnormal numbers: no input can tell it from them.
    """
    value = result.value
    if value is None or want.value is None or result.status != want.status:
        return False
    if (value.shape, value.dtype) != (want.value.shape, want.dtype):
        return False
    promise = want.value.astype(want.dtype)
    wrong = [differing(value, other.astype(want.dtype)) for other in (promise, *want.alternatives)]
    return not (np.logical_and.reduce(wrong) & ~_near_zero(value, promise, budget)).any()


def _near_zero(value: np.ndarray, promise: np.ndarray, budget: float) -> np.ndarray:
    """Where a value is a zero of the sign of the promise, and the promise is within the budget of it."""
    if not is_float(value.dtype):
        return np.zeros(value.shape, bool)
    reach = budget * float(ml_dtypes.finfo(value.dtype).smallest_subnormal)
    return (value == 0) & (np.abs(promise) <= reach) & (np.signbit(value) == np.signbit(promise))


def _trials(case: Case) -> Iterator[tuple[str, bool]]:
    """Pairs (mutant of a quantity, whether it is killed) for each possible mutant, on each side of the case's contract.

    The predictions of claims are tested as well.
    """
    inputs = case.inputs()
    for claim in case.spec.claims:
        if claim.reference or claim.vjp:
            for name, killed in _trials(replace(case, spec=predicting(case.spec, claim))):
                if claim.concerns(name.rpartition(" ")[2]):
                    yield f"{name} as {claim.id} predicts", killed
    for side in (None, *case.spec.contract.values()):
        for quantity, want in expectation(case, inputs, side).wants.items():
            families = MODE_FAMILIES if case.spec.by_modes(quantity) else MODE_FAMILIES[:1]
            for mode in families:
                suffix = f" under {mode}" if len(families) > 1 else ""
                for name, killed in _mutated(case, side, quantity, want.in_mode(mode), mode, inputs):
                    yield f"{name} in {quantity}{suffix}", killed


def _mutated(
    case: Case, side: Side | None, quantity: str, want: Want, mode: str, inputs: Sequence[np.ndarray]
) -> Iterator[tuple[str, bool]]:
    """Pairs (mutant, whether it is killed) for each possible mutant of a quantity in a mode."""
    right, budget = truth(want), case.spec.budget(quantity, case.dtype, mode)
    mutants = {**MUTANTS, "one ULP past the budget": past(want, budget)}
    rooms = Rooms.of(case, side, mode, quantity, want)
    if rooms is not None:
        mutants |= {name: _outside(rooms.excused, mutant) for name, mutant in STRICT.items()}
        yield f"half of the digits of an element of {case.id}", not rooms.faulty
    for name, mutant in mutants.items():
        wrong = mutant(right, inputs)
        if wrong is None:
            continue
        judged = _judged(wrong, want)
        if not same(judged, right) and not _permitted(judged, want, budget):
            yield name, bool(compare(wrong, want, quantity, budget=budget).kind)


def score(spec: Spec) -> Score:
    """Scores a spec over all its cases."""
    result = Score()
    with np.errstate(all="ignore"):
        for name, killed in (trial for case in spec.cases() for trial in _trials(case)):
            result.possible[name] = result.possible.get(name, 0) + 1
            result.killed[name] = result.killed.get(name, 0) + killed
    return result


def scores(catalog: Catalog) -> dict[str, Score]:
    """The score of every spec, by name."""
    return {name: score(spec) for name, spec in catalog.specs.items()}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds no options: the verb has none."""


def main(options: argparse.Namespace) -> int:
    """Prints killed/possible mutants for every spec; returns 1 if a mutant is alive, else 0."""
    alive = 0
    for name, spec_score in scores(Catalog.load(SUITES)).items():
        survivors, possible = spec_score.alive, len(spec_score.possible)
        alive += len(survivors)
        print(
            f"{possible - len(survivors):3}/{possible:<3} {name}" + "".join(f"\n        alive: {m}" for m in survivors)
        )
    return 1 if alive else 0
