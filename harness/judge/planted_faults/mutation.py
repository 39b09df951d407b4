"""Mutation: how many wrong results (mutants) a spec's cases can detect.

A mutant changes the promised result. It is possible on a case if it differs from the promised result there. It is
killed if the comparison rejects it on one case, and alive if it is possible but no case kills it: then the spec's
inputs can't detect that kind of wrong result.
"""

from __future__ import annotations

import argparse
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import ml_dtypes
import numpy as np

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.repeat import differing, same
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.planted_faults.mutants import MUTANTS, STRICT, Mutant, outside, past
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.promises.loose_bounds import Rooms
from tf_opdiff.harness.judge.promises.moved_inputs import Moved
from tf_opdiff.harness.judge.promises.want import UNDOCUMENTED, Want, positive_zeros
from tf_opdiff.harness.judge.verdicts.claim import predicting
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.modes import MODE_FAMILIES
from tf_opdiff.harness.spec.spec import Case, Spec

#: The name of a mutant, and a function that tries it: whether it is killed, or None where it is not possible.
Trial = tuple[str, Callable[[], bool | None]]


@dataclass
class Score:
    """The names, with their quantities, of the mutants that were possible, and of those that were killed."""

    possible: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)

    @property
    def alive(self) -> list[str]:
        """The mutants that were possible and that no case killed."""
        return sorted(self.possible - self.killed)


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


def _permitted(result: Result, want: Want) -> bool:
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
    return not (np.logical_and.reduce(wrong) & ~_near_zero(value, promise, want.budget)).any()


def _near_zero(value: np.ndarray, promise: np.ndarray, budget: float) -> np.ndarray:
    """Where a value is a zero of the sign of the promise, and the promise is within the budget of it."""
    if not is_float(value.dtype):
        return np.zeros(value.shape, bool)
    reach = budget * float(ml_dtypes.finfo(value.dtype).smallest_subnormal)
    return (value == 0) & (np.abs(promise) <= reach) & (np.signbit(value) == np.signbit(promise))


def _trials(case: Case) -> Iterator[Trial]:
    """A trial of each mutant of each quantity, on each side of the case's contract.

    The predictions of claims are tested as well.
    """
    inputs = case.inputs()
    for claim in case.spec.claims:
        if claim.reference or claim.vjp:
            for name, killed in _trials(replace(case, spec=predicting(case.spec, claim))):
                if claim.concerns(name.rpartition(" ")[2]):
                    yield f"{name} as {claim.id} predicts", killed
    for side in (None, *case.spec.contract.values()):
        moved = Moved(case, side)
        for quantity, want in expectation(case, inputs, side).wants.items():
            if want.status == UNDOCUMENTED:  # every result keeps it
                continue
            families = MODE_FAMILIES if case.spec.tolerance.by_modes(quantity) else MODE_FAMILIES[:1]
            for mode in families:
                suffix = f" under {mode}" if len(families) > 1 else ""
                for name, killed in _mutated(moved, quantity, want.in_mode(mode), inputs):
                    yield f"{name} in {quantity}{suffix}", killed


def _mutated(moved: Moved, quantity: str, want: Want, inputs: Sequence[np.ndarray]) -> Iterator[Trial]:
    """A trial of each mutant of a quantity, by its promise in a mode."""
    mutants = {**MUTANTS, "one ULP past the budget": past(want)}
    rooms = Rooms.of(moved, quantity, want)
    if rooms is not None:
        to_zero = {name: mutants[name] for name in ("subnormal to 0",)}  # a sum that cancels may be subnormal
        mutants |= {name: outside(rooms.excused, mutant) for name, mutant in {**STRICT, **to_zero}.items()}
        yield f"half of the digits of an element of {moved.case.id}", partial(operator.not_, rooms.faulty)
    right = truth(want)
    for name, mutant in mutants.items():
        yield name, partial(_killed, mutant, right, want, quantity, inputs)


def _killed(mutant: Mutant, right: Result, want: Want, quantity: str, inputs: Sequence[np.ndarray]) -> bool | None:
    """Whether the comparison rejects a mutant; None where the mutant is not possible."""
    wrong = mutant(right, inputs)
    if wrong is None:
        return None
    judged = _judged(wrong, want)
    if same(judged, right) or _permitted(judged, want):
        return None
    return bool(compare(wrong, want, quantity).kind)


def score(spec: Spec) -> Score:
    """Scores a spec over its cases. A mutant that one case kills is not tried on the other cases."""
    result = Score()
    with np.errstate(all="ignore"):
        for name, trial in (trial for case in spec.cases() for trial in _trials(case)):
            killed = None if name in result.killed else trial()
            if killed is not None:
                result.possible.add(name)
            if killed:
                result.killed.add(name)
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
