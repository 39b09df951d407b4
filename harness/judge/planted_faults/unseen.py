"""Unseen: the planted faults that known failures would hide at a place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.planted_faults.plants import planted
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.trial import Trial
from tf_opdiff.harness.judge.verdicts.verdict import Judge, comparisons
from tf_opdiff.harness.store.records.record import Record


@dataclass(frozen=True)
class Planting:
    """The number of faults that were planted in a result, and the names of those that no failing record shows."""

    count: int = 0
    unseen: tuple[str, ...] = ()

    def noted(self, record: Record) -> Record:
        """The record with both."""
        return replace(record, planted=self.count, unseen=";".join(self.unseen))


def plant(judge: Judge, trial: Trial, quantity: str, want: Want, comparison: Comparison) -> Planting:
    """Plants each fault of `harness.judge.planted_faults.plants` in a quantity of a trial, and judges the result
    against its promise.

    A fault that keeps the promise, because the budget allows it, is not counted.

    Args:
      judge: it knows the known failures.
      trial: the observation that is known to fail.
      quantity: the quantity to plant faults in.
      want: its promise.
      comparison: the comparison of the observation with the promise.
    """
    count, unseen = 0, []
    trial = replace(trial, blame=None)  # nobody reads which inputs are to blame, and that takes long to find
    for name, result, changed in planted(trial.result(quantity), comparison.elements):
        quantities = {**trial.observation.quantities, quantity: result}
        faulty = replace(trial, observation=replace(trial.observation, quantities=quantities))
        compared = comparisons(faulty, {quantity: want})[quantity]
        if changed is not None and compared.elements and not (compared.elements.every_wrong & changed).any():
            continue
        count += 1
        if not judge.decide(faulty, quantity, compared).failing:
            unseen.append(name)
    return Planting(count, tuple(unseen))


def first_of_place(record: Record, seen: set[tuple[str, ...]]) -> bool:
    """Whether a record is known, and the first with its plan, quantity and causes; adds that place to `seen`."""
    place = (record.device, record.mode, record.quantity, record.attrs, record.kinds, record.cause)
    if record.verdict != "known" or place in seen:
        return False
    seen.add(place)
    return True
