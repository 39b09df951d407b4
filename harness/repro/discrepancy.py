"""Discrepancy: a difference that a script shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.judge.promises.expectation import Expectation, expectation
from tf_opdiff.harness.repro.script_runs.outcome import end_of_process
from tf_opdiff.harness.spec.contract import Side
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import BY_PATTERNS, SEARCH, SWEEPS, Case
from tf_opdiff.harness.store.records.element_index import parse_index
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.sweep.measurements.block_promises import expected as promise_of_sweep
from tf_opdiff.harness.sweep.searches.search_oracle import promises

#: Copies of a sweep's example in an input: enough to fill the lanes of a vector register.
LANES = 64


@dataclass(frozen=True)
class Discrepancy:
    """A difference that a script shows: of a quantity of a case under a plan, against an oracle.

    Attributes:
      against: the oracle: `numpy`, another plan, or the plan itself.
      kind, budget: those of the record.
      index: the index of the element that the script shows.
      sentence: the record in words.
      other_end: the signal or time-out by which the plan that is the oracle ends its process; empty for none.
      together: whether the script computes all outputs and gradients in one program, as the run did: XLA and Grappler
        may compile an output in another way where the others are computed too.
      short: whether the script is one of `short_program`.
      upstreams, tangents: those to send; by default, those of the case for inputs of these shapes.
      settings: variants under which the script runs, besides those of the device; the promise is that of the plan.
    """

    case: Case
    plan: Plan
    quantity: str
    against: str
    kind: str
    inputs: tuple[np.ndarray, ...]
    budget: float = 0.0
    index: tuple[int, ...] | None = None
    sentence: str = ""
    other_end: str = ""
    settings: tuple[str, ...] = ()
    together: bool = False
    short: bool = False
    upstreams: tuple[np.ndarray | None, ...] | None = None
    tangents: tuple[np.ndarray, ...] | None = None


def with_all_results(discrepancy: Discrepancy) -> Discrepancy | None:
    """The discrepancy in a program that computes all outputs and gradients together; None if the run's did not."""
    spec, family = discrepancy.case.spec, family_of(discrepancy.quantity)
    apart = spec.execution.sessions or spec.execution.state or family not in ("output", "grad")
    if apart or (family == "grad" and not spec.derivatives.vjp):
        return None
    return replace(discrepancy, together=True)


def discrepancy_of(record: Record, case: Case, device: Device) -> Discrepancy:
    """The discrepancy of a record, on a device; of a sweep or search, with the record's example as input."""
    index = parse_index(record.example_index or record.worst_index)
    inputs: tuple[np.ndarray, ...]
    if record.recipe in BY_PATTERNS and index and max(index) < 256 ** np.dtype(record.dtype).itemsize:
        bits = np.array(index, f"u{np.dtype(record.dtype).itemsize}").view(np.dtype(record.dtype))
        inputs, index = tuple(np.repeat(x, LANES) for x in bits), (0,)
    else:
        inputs = case.inputs()
    return Discrepancy(
        case,
        Plan(device, record.mode),
        record.quantity,
        record.against,
        record.kind,
        inputs,
        record.budget,
        index,
        sentence(record),
        end_of_process(record.want) if record.against not in ("numpy", record.plan) else "",
    )


def promise_of(discrepancy: Discrepancy, *, bounds: bool = True) -> Expectation:
    """The promise of the case for these inputs; in a sweep or search, upstreams follow from the bit patterns.

    Without `bounds`, the promise of an ordinary case has no tolerances and alternatives, which take long to compute.
    """
    side = discrepancy.case.spec.side(discrepancy.plan)
    if discrepancy.case.recipe == SEARCH:
        searched, _ = promises(discrepancy.case, discrepancy.inputs, side, bounds=True)
        return searched.in_mode(discrepancy.plan.mode)
    if discrepancy.case.recipe not in SWEEPS:
        return _of_case(discrepancy, side, bounds=bounds).under(discrepancy.plan)
    (x,) = discrepancy.inputs
    first = int(x.view(f"u{x.dtype.itemsize}").flat[0])
    inputs = Bits(x.dtype.name, first, first + x.size)
    promise = promise_of_sweep(discrepancy.case, inputs, side, x, np.arange(x.size))
    return promise.in_mode(discrepancy.plan.mode)


def _of_case(discrepancy: Discrepancy, side: Side | None, *, bounds: bool) -> Expectation:
    """The promise of an ordinary case, for the upstreams and tangents of the discrepancy."""
    sent = {"upstreams_of": discrepancy.upstreams, "tangents_of": discrepancy.tangents}
    own: dict[str, Any] = {name: lambda *_, v=value: v for name, value in sent.items() if value is not None}
    return expectation(discrepancy.case, discrepancy.inputs, side, bounds=bounds, **own)
