"""Verdict: a comparison read in the light of contracts and known failures, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge import claim, severity
from tf_opdiff.harness.judge.classify import Facts, classify
from tf_opdiff.harness.judge.compare import compare, illustrated
from tf_opdiff.harness.judge.comparison import Comparison
from tf_opdiff.harness.judge.known import Entry, place_of
from tf_opdiff.harness.judge.row import row_of
from tf_opdiff.harness.judge.self_check import with_itself
from tf_opdiff.harness.judge.trial import LOST, Context, Origin, Trial
from tf_opdiff.harness.judge.want import NOTHING, Want
from tf_opdiff.harness.spec.plan import Plan, PlanName
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.store.record import Record

#: The names that a run needs to judge its observations.
__all__ = ("LOST", "Context", "Judge", "Origin", "Trial", "comparisons")


@dataclass(frozen=True)
class _Entries:
    """The entries of known failures that are about a comparison, each with its number.

    `here` is about the place of the comparison. `other` is about the place of the other plan, if that plan itself is
    known to fail.
    """

    here: tuple[int, Entry] | None
    other: tuple[int, Entry] | None
    between_plans: bool

    def facts(self, kind: str, code: str) -> dict[str, bool]:
        """The facts for a difference of this kind and this error code."""
        entry = self.here[1] if self.here else None
        expected = entry is not None and entry.kind == kind and entry.code in ("", code)
        loose = entry is not None and self.between_plans and entry.against == "*"
        return {"entry": entry is not None, "expected": expected, "excused": self.other is not None, "loose": loose}

    def shown(self, facts: Facts) -> tuple[int, Entry] | None:
        """The entry that the record names: for a match, only an entry that expects a difference."""
        if facts.differs:
            return self.here or self.other
        return None if facts.excused or facts.loose else self.here


def comparisons(trial: Trial, wants: Mapping[str, Want], base: Plan | None = None) -> dict[str, Comparison]:
    """The comparison of each promised quantity of a trial, and of each observed quantity that is not promised.

    Without a base, `wants` are the promises of the case. With one, they are the results of that plan, from which the
    trial may be as far as the budgets of both plans together: see `Spec.budget` and `Want.from_other`.
    """
    case, inputs, compared = trial.case, trial.inputs, {}
    beyond = {quantity: NOTHING for quantity in trial.observation.quantities if quantity not in wants}
    for quantity, want in {**wants, **beyond}.items():
        budget = case.spec.budget(quantity, case.dtype, trial.plan.mode, base.mode if base else "")
        result = trial.result(quantity)
        comparison = compare(result, want, quantity, budget=budget, inputs=inputs)
        if not comparison.kind and case.spec.side(trial.plan):
            comparison = illustrated(comparison, result, want, inputs)
        compared[quantity] = comparison
    return compared


@dataclass(frozen=True)
class Judge:
    """Makes the records of a run; they share its `context`."""

    context: Context

    def against_promises(self, trial: Trial, wants: Mapping[str, Want], base: Plan | None = None) -> list[Record]:
        """A record for each comparison of a trial with promises, or with the results of a base; see `comparisons`."""
        compared, against = comparisons(trial, wants, base), str(base) if base else "numpy"
        return [self.decide(trial, quantity, one, against=against) for quantity, one in compared.items()]

    def against_itself(self, trial: Trial, wants: Mapping[str, Want]) -> list[Record]:
        """A record for each observed promised quantity, against the plan itself; see `harness.judge.self_check`."""
        compared = {quantity: with_itself(trial, quantity, want) for quantity, want in wants.items()}
        return [self.decide(trial, q, c, against=str(trial.plan)) for q, c in compared.items() if c is not None]

    def against_claims(self, trial: Trial, promises: claim.Promises, wants: Mapping[str, Want]) -> list[Record]:
        """A record for each claim about the trial's spec and plan; see `harness.judge.claim`."""
        return claim.judge(self.context, trial, promises, wants)

    def decide(
        self, trial: Trial, quantity: str, comparison: Comparison, *, against: str = "numpy", side: Side | None = None
    ) -> Record:
        """The record of a comparison: its meaning in the light of contracts and known failures.

        `side` is the side of the contract in the comparison; without it, the spec's side for the plan.
        """
        context, plan, observation = self.context, trial.plan, trial.observation
        side = None if against == str(plan) else side or trial.case.spec.side(plan)
        result = trial.result(quantity)
        row = row_of(context, trial, comparison, against=against, quantity=quantity)
        entries = self._entries(row)
        facts = Facts(
            fault=bool(observation.fault),
            lacking=_lacking(observation, result, comparison, plan),
            differs=bool(comparison.kind),
            contract=side is not None,
            **entries.facts(comparison.kind, result.code),
        )
        verdict = classify(facts)
        entry = entries.shown(facts)
        detail = self._detail(verdict, entry, comparison, observation) or (side.why if side else "")
        detail = ": ".join(filter(None, (trial.case.spec.name_of(quantity), detail)))
        if facts.fault:
            row = replace(row, kind=comparison.kind or "status")
        if entry:
            row = entry[1].explain(row)
        elif side:
            row = replace(row, reason=side.why, link=side.link)
        record = replace(row, verdict=verdict, detail=_one_line(detail))
        record = context.maturity.graded(record, came=result.status in ("value", "sparse"))
        return _with_severity(record, entry[1] if entry else None, result)

    def _entries(self, row: Record) -> _Entries:
        """The entries of known failures that are about a record."""
        context, place, other = self.context, place_of(row), PlanName.parse(row.against)
        excusing = None
        if other and row.against != row.plan:
            elsewhere = {**place, "device": other.device, "mode": other.mode, "against": "numpy"}
            excusing = context.known.find(elsewhere, context.origin(other.device).tf)
        return _Entries(context.known.find(place, row.tf), excusing, between_plans=place["against"] == "plan")

    def _detail(
        self, verdict: str, entry: tuple[int, Entry] | None, comparison: Comparison, observation: Observation
    ) -> str:
        """The reason for the verdict."""
        if verdict == "error":
            return observation.fault
        if verdict == "unavailable":
            more = "" if comparison.detail == observation.lacking else f": {comparison.detail}"
            return observation.lacking + more
        if verdict == "stale" and entry:
            return self._spent(entry)
        if verdict == "mismatch" and entry:
            expected = f"{entry[1].kind} {entry[1].code}".strip()
            return f"{self.context.known.stands(entry[0])} expects {expected} here. {comparison.detail}"
        return comparison.detail

    def _spent(self, entry: tuple[int, Entry]) -> str:
        return f"no longer fails: delete or narrow {self.context.known.stands(entry[0])} ({entry[1].cause.reason})"

    def restored(self, plan: Plan, kept: Record) -> Record:
        """A record against NumPy that a recording holds in place of arrays, as one of this run."""
        context, device = self.context, str(plan.device)
        origin = vars(context.origin(device))
        row = replace(kept, run=context.run, started=context.started, device=device, **origin)
        entry, fails = context.known.find(place_of(row), row.tf), row.verdict in ("known", "mismatch")
        if not fails and row.verdict not in ("match", "contract"):
            return row
        expected = entry is not None and entry[1].kind == row.kind
        contract = row.verdict == "contract"
        verdict = classify(Facts(differs=fails, entry=entry is not None, expected=expected, contract=contract))
        if verdict == "known" and entry:
            row = replace(entry[1].explain(row), verdict=verdict)
        elif verdict == "mismatch":
            row = replace(row, verdict=verdict, owner="", reason="", link="", cause="")
        elif verdict == "stale" and entry:
            row = replace(row, verdict=verdict, detail=self._spent(entry))
        return _with_severity(row, entry[1] if entry else None)

    def absent(self, trial: Trial, why: str) -> Record:
        """The record of a cell that a recording lacks; `trial` has no observation."""
        without = replace(trial, observation=Observation({}, lacking=why))
        return self.decide(without, "output[0]", Comparison(kind="status", detail=why))

    def broken(self, trial: Trial, message: str) -> Record:
        """The record of a case whose reference failed; `trial` has no observation."""
        row = row_of(self.context, trial, Comparison(kind="reference"), against="numpy", quantity="output[0]")
        return replace(row, verdict="error", detail=_one_line(message))


def _with_severity(record: Record, entry: Entry | None, result: Result | None = None) -> Record:
    """The record with the severity of its difference: that of the cause in its entry, or that of the rule.

    Without the result, the dtype of the case counts as that of the result.
    """
    if record.verdict == "known" and entry:
        return replace(record, severity=entry.cause.severity)
    if record.verdict != "mismatch":
        return replace(record, severity="") if record.severity else record
    dtype = record.dtype if result is None or result.value is None else result.value.dtype.name
    return replace(record, severity=severity.of_difference(record.kind, record.quantity, record.max_ulp, dtype))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:1000]


def _lacking(observation: Observation, result: Result, comparison: Comparison, plan: Plan) -> bool:
    """Whether the result is an error because a kernel, or something else that the program needs, is missing.

    A wrong error code on the CPU does not count as a missing kernel: references describe the CPU, and a missing kernel
    may be what they promise.
    """
    expected = comparison.kind == "status" or (comparison.kind and result.code == "Unavailable")
    expected = expected or (comparison.kind == "error_code" and plan.device.type != "cpu")
    return bool(observation.lacking and result.status == "error" and expected)
