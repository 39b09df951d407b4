"""Verdict: a comparison read in the light of contracts and known failures, flattened to a record."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.repeat import sizes
from tf_opdiff.harness.judge import wording
from tf_opdiff.harness.judge.compare import Comparison, compare, illustrated
from tf_opdiff.harness.judge.expectation import NOTHING, Want
from tf_opdiff.harness.judge.known import Entry, Known, place_of
from tf_opdiff.harness.judge.maturity import Maturity
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.spec import Case, Side
from tf_opdiff.harness.store.record import Record

LOST = Result("error", code="MISSING", message="the run gave no such quantity")
#: By how much the budget is multiplied where two results are compared: each of them may be off by the budget.
TWO_RESULTS = 2.0


@dataclass(frozen=True)
class Origin:
    """Where observations come from: the versions of TensorFlow and CUDA, and the machine."""

    tf: str
    cuda: str = ""
    host: str = ""


@dataclass(frozen=True, kw_only=True)
class Context:
    """What all records of a run share; `recorded` says where those of recorded devices come from, by their names."""

    run: str
    started: str
    here: Origin
    known: Known
    maturity: Maturity = field(default_factory=Maturity)
    recorded: Mapping[str, Origin] = field(default_factory=dict)

    def origin(self, device: str) -> Origin:
        """Where the observations of a device come from."""
        return self.recorded.get(device, self.here)


@dataclass(frozen=True)
class Trial:
    """What is judged: what a case of a suite gave under a plan, on which inputs; and the context of its records."""

    context: Context
    suite: str
    case: Case
    plan: Plan
    observation: Observation
    inputs: Sequence[np.ndarray] = ()

    def result(self, quantity: str) -> Result:
        """What came of a quantity; `LOST` where nothing did."""
        return self.observation.quantities.get(quantity, LOST)


def judge(trial: Trial, wants: Mapping[str, Want], *, against: str = "numpy", slack: float = 1.0) -> list[Record]:
    """A record for each promised quantity of a case under a plan, and for each that came and is not promised.

    `slack` multiplies budgets: two plans that each stay within the budget may be twice as far from each other.
    """
    case, inputs, records = trial.case, trial.inputs, []
    beyond = {quantity: NOTHING for quantity in trial.observation.quantities if quantity not in wants}
    for quantity, want in {**wants, **beyond}.items():
        budget = case.spec.budget(quantity, case.dtype) * slack
        if want.bound is not None and slack != 1:
            want = replace(want, bound=want.bound * slack)
        result = trial.result(quantity)
        found = compare(result, want, quantity, budget=budget, inputs=inputs)
        if not found.kind and case.spec.side(trial.plan):
            found = illustrated(found, result, want, inputs)
        records.append(decide(trial, quantity, found, against=against))
    return records


def rejudge(trial: Trial, wants: Mapping[str, Want]) -> list[Record]:
    """A record for each promised quantity that came, against the plan itself: what its runs gave again.

    A rerun has to give the same bits, and an input has to keep its bits. Results of one value in two places of a tensor
    may be as far apart as those of two plans.
    """
    case, inputs, again, records = trial.case, trial.inputs, trial.observation.again, []
    for quantity, promised in wants.items() if again else ():
        first = trial.result(quantity)
        if first.status not in ("value", "unconnected", "sparse"):
            continue
        comparison = compare(first, Want.of(first), quantity)
        for kind, others in again.items():
            mutated = next(iter(others), "") if kind == "input_mutated" and quantity == "output[0]" else ""
            if mutated:
                was = inputs[int(mutated[len("input[") : -1])]
                comparison = replace(
                    compare(others[mutated], Want("value", was, was.dtype), mutated), detail=f"{mutated} changed"
                )
            elif quantity in others and kind == "position":
                budget = case.spec.budget(quantity, case.dtype) * TWO_RESULTS
                once = promised.from_other(first, TWO_RESULTS)
                comparison = compare(others[quantity], once, quantity, budget=budget, inputs=inputs)
                if not comparison.kind:
                    continue
            elif quantity in others:
                comparison = compare(others[quantity], Want.of(first), quantity, inputs=inputs)
            else:
                continue
            comparison = replace(comparison, kind=kind)
            if kind == "position" and first.value is not None:
                smaller = comparison.detail or _smaller(comparison, first.value.shape)
                comparison = replace(comparison, detail=smaller)
            break
        records.append(decide(trial, quantity, comparison, against=str(trial.plan)))
    return records


def _smaller(found: Comparison, shape: tuple[int, ...]) -> str:
    """In which smaller tensors the example's value may have come out differently; `shape` is that of the whole one."""
    if found.simplest is None:
        return ""
    place = int(np.ravel_multi_index(found.simplest.index, shape)) if shape else 0
    counts = sizes(place, math.prod(shape))
    told = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"the smaller tensor has {told} element{'' if told == '1' else 's'}"


def decide(
    trial: Trial, quantity: str, found: Comparison, *, against: str = "numpy", side: Side | None = None
) -> Record:
    """The record of a comparison: what it means in the light of contracts and known failures.

    `side` is that of the contract which the comparison was made with; without it, the spec's for the plan.
    """
    context, plan, observation = trial.context, trial.plan, trial.observation
    side = None if against == str(plan) else side or trial.case.spec.side(plan)
    result = trial.result(quantity)
    row = row_of(trial, found, against, quantity)
    place = place_of(row)
    entry, others = context.known.find(place, row.tf), _of_other(context, row)
    if found.kind:
        entry = entry or others
    elif others or (entry and place["against"] == "plan" and entry[1].against == "*"):
        entry = None  # whether one still fails shows against NumPy: between plans there is twice the room
    verdict, detail = ("contract" if side else "match"), found.detail
    if observation.fault:
        verdict, detail = "error", observation.fault
        row = replace(row, kind=found.kind or "status")
    elif _lacking(observation, result, found, plan):
        said = "" if found.detail == observation.lacking else f": {found.detail}"
        verdict, detail = "unavailable", observation.lacking + said
    elif found.kind:
        verdict = "mismatch"
        if entry and (others or (entry[1].kind == found.kind and entry[1].code in ("", result.code))):
            verdict = "known"
        elif entry:
            expected = f"{entry[1].kind} {entry[1].code}".strip()
            detail = f"{context.known.stands(entry[0])} expects {expected} here. {detail}"
    elif entry:
        verdict = "stale"
        detail = _spent(context, entry)
    if side and not detail:
        detail = side.why
    if entry:
        row = entry[1].explain(row)
    elif side:
        row = replace(row, reason=side.why, link=side.link)
    record = replace(row, verdict=verdict, detail=" ".join(detail.split())[:1000])
    return context.maturity.graded(record, came=result.status in ("value", "sparse"))


def _lacking(observation: Observation, result: Result, found: Comparison, plan: Plan) -> bool:
    """Whether there is an error in place of what was promised for want of a kernel, or of what the program needs.

    Another error than the promised one is no such thing on the CPU, which promises of errors are about: that it lacks a
    kernel may be what is promised.
    """
    expected = found.kind == "status" or (found.kind and result.code == "Unavailable")
    expected = expected or (found.kind == "error_code" and plan.device.type != "cpu")
    return bool(observation.lacking and result.status == "error" and expected)


def _of_other(context: Context, row: Record) -> tuple[int, Entry] | None:
    """The entry by which the plan that a record is held against is itself known to fail there, with its number."""
    device, _, mode = row.against.rpartition("/")
    place = {**place_of(row), "device": device, "mode": mode, "against": "numpy"}
    there = device and row.against != row.plan
    return context.known.find(place, context.origin(device).tf) if there else None


def _spent(context: Context, entry: tuple[int, Entry]) -> str:
    return f"no longer fails: delete or narrow {context.known.stands(entry[0])} ({entry[1].cause.reason})"


def restored(context: Context, plan: Plan, kept: Record) -> Record:
    """A record against NumPy that was kept in place of arrays, as one of this run."""
    device = str(plan.device)
    of = context.origin(device)
    row = replace(kept, run=context.run, started=context.started, device=device, tf=of.tf, cuda=of.cuda, host=of.host)
    entry, fails = context.known.find(place_of(row), row.tf), row.verdict in ("known", "mismatch")
    if entry and fails and entry[1].kind == row.kind:
        return replace(entry[1].explain(row), verdict="known")
    if fails:
        return replace(row, verdict="mismatch", owner="", reason="", link="", cause="")
    if entry and row.verdict in ("match", "contract"):
        why = _spent(context, entry)
        return replace(row, verdict="stale", detail=why)
    return row


def absent(context: Context, suite: str, case: Case, plan: Plan, why: str) -> Record:
    """The record of a cell that a recording lacks."""
    nothing = Trial(context, suite, case, plan, Observation({}, lacking=why))
    return decide(nothing, "output[0]", Comparison(kind="status", detail=why))


def broken(context: Context, suite: str, case: Case, plan: Plan, message: str) -> Record:
    """The record of a case whose reference failed."""
    nothing = Trial(context, suite, case, plan, Observation({}))
    row = row_of(nothing, Comparison(kind="reference"), "numpy", "output[0]")
    return replace(row, verdict="error", detail=" ".join(message.split())[:1000])


def row_of(trial: Trial, found: Comparison, against: str, quantity: str) -> Record:
    """A record without a verdict."""
    context, case, plan, observation = trial.context, trial.case, trial.plan, trial.observation
    value, inputs = trial.result(quantity).value, trial.inputs
    shape, easy = value.shape if value is not None else (), found.simplest
    told = "" if easy is None else wording.numbers(found.kind, _shown(inputs, shape, easy.index), easy.got, easy.want)
    return Record(
        run=context.run,
        started=context.started,
        **vars(context.origin(str(plan.device))),
        suite=trial.suite,
        spec=case.spec.name,
        raw_op=observation.raw_op,
        case=case.id,
        dtype=case.dtype,
        recipe=case.recipe,
        seed=f"{case.seed:016x}",
        device=str(plan.device),
        mode=plan.mode,
        ran_on=observation.ran_on,
        against=against,
        quantity=quantity,
        kind=found.kind,
        size=found.size,
        mismatched=found.mismatched,
        max_ulp=found.max_ulp,
        max_abs=found.max_abs,
        budget=found.budget,
        worst_index=_written(found.index),
        input=_shown(inputs, shape, found.index) if found.got or found.want else "",
        got=found.got,
        want=found.want,
        seconds=round(observation.seconds, 6),
        rerun=rerun(case, plan, against),
        example_index="" if easy is None else _written(easy.index),
        example=told,
        distance=found.distance,
        attrs=case.attrs,
    )


def _written(index: tuple[int, ...] | None) -> str:
    return "" if index is None else str(list(index))


def _shown(inputs: Sequence[np.ndarray], shape: tuple[int, ...], index: tuple[int, ...] | None) -> str:
    """The inputs at an index, where they have the result's shape; small ones whole; otherwise what they are."""
    texts = []
    for array in inputs:
        if index is not None and array.shape == shape:
            texts.append(str(array[index]))
        elif array.size <= 8:
            texts.append(str(array.tolist()))
        else:
            texts.append(f"{array.dtype.name}{list(array.shape)}")
    return ", ".join(texts)


def rerun(case: Case, plan: Plan, against: str) -> str:
    """The command that runs one case under one plan, and under the one that it is compared with."""
    modes, devices = [plan.mode], [str(plan.device)]
    if "/" in against:
        device, _, mode = against.rpartition("/")
        modes = list(dict.fromkeys([mode, plan.mode]))
        devices = list(dict.fromkeys([device, str(plan.device)]))
    options = [*(f"--device {d}" for d in devices), *(f"--mode {m}" for m in modes)]
    return f"pytest suites --case {shlex.quote(case.id)} {' '.join(options)}"


def sentence(record: Record) -> str:
    """A record in one line: what, where, k of n, the simplest element and the worst, each with input, got and want."""
    row, itself = vars(record), wording.against_itself(vars(record))
    against = "" if itself else f" against {record.against}"
    parts = [f"{record.verdict}: {record.case} on {record.plan}{against},"]
    parts.append(f"{record.quantity}: {itself or record.kind or 'no difference'}")
    if record.mismatched:
        parts.append(f"in {record.mismatched} of {record.size}")
    values = wording.values(row)
    if values:
        parts[-1] += "" if values.startswith("at [") else ":"
        parts.append(values)
    return " ".join(parts) + (f". {record.detail[:300]}" if record.detail else "")
