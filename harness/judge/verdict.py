"""Verdict: a comparison read in the light of contracts and known failures, as a record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge import claim, severity, wording
from tf_opdiff.harness.judge.classify import Facts, classify
from tf_opdiff.harness.judge.compare import code_in, compare, illustrated
from tf_opdiff.harness.judge.comparison import Comparison
from tf_opdiff.harness.judge.explanation import Explanation
from tf_opdiff.harness.judge.known import Difference, Entry, Numbered, place_of
from tf_opdiff.harness.judge.row import row_of
from tf_opdiff.harness.judge.self_check import with_itself
from tf_opdiff.harness.judge.trial import LOST, Context, Origin, Trial
from tf_opdiff.harness.judge.want import NOTHING, Want
from tf_opdiff.harness.spec.plan import Plan, PlanName
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.store.record import Record

#: The names that a run needs to judge its observations.
__all__ = ("LOST", "Context", "Judge", "Origin", "Trial", "comparisons")

#: The most characters of a detail.
_LONGEST = 1000
#: Why there is no promise of an error.
_HAS_KERNEL = "this device has a kernel, and the promise is about devices without one"
#: The codes by which TensorFlow reports that a device lacks a kernel, or programs that another part is missing.
_OF_MISSING = ("INVALID_ARGUMENT", "NOT_FOUND", "UNIMPLEMENTED", "Unavailable", LOST.code)


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
    """Makes the records of a run; they share its `context`.

    `part`: the comparisons are of a part of what entries are about, such as a range of a sweep. A known failure may
    then lie outside, and none is stale.
    """

    context: Context
    part: bool = False

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
        explanation = self._explanation(row, Difference(comparison.kinds, result.code, comparison.max_ulp))
        facts = Facts(
            fault=bool(observation.fault),
            lacking=_lacking(observation, result, comparison, plan),
            differs=bool(comparison.kind),
            contract=side is not None,
            **explanation.facts,
        )
        verdict = classify(facts)
        if (kind := explanation.shown(verdict)) != comparison.kind:
            comparison = comparison.showing(kind)
            row = row_of(context, trial, comparison, against=against, quantity=quantity)
        detail = self._detail(verdict, explanation, comparison, observation) or (side.why if side else "")
        detail = ": ".join(filter(None, (trial.case.spec.name_of(quantity), detail)))
        if facts.fault:
            row = replace(row, kind=comparison.kind or "status", kinds=row.kinds or "status")
        row = explanation.explain(replace(row, verdict=verdict))
        if side and not row.cause:
            row = replace(row, reason=side.why, link=side.link)
        record = replace(row, detail=_with_leftovers(detail, observation if against == "numpy" else None))
        record = context.maturity.graded(record, came=result.status in ("value", "sparse"))
        dtype = record.dtype if result.value is None else result.value.dtype.name
        return _with_severity(record, explanation, dtype, comparison)

    def _explanation(self, row: Record, difference: Difference) -> Explanation:
        """The entries of known failures that are about a record with this difference."""
        context, place, other = self.context, place_of(row), PlanName.parse(row.against)
        excusing: tuple[Numbered, ...] = ()
        if other and row.against != row.plan:
            elsewhere = {**place, "device": other.device, "mode": other.mode, "against": "numpy"}
            excusing = context.known.about(elsewhere, context.origin(other.device).tf)
        here, between_plans = context.known.about(place, row.tf), place["against"] == "plan"
        traits = context.known.facts(row.device).traits
        explanation = Explanation.of(difference, here, excusing, between_plans=between_plans, traits=traits)
        return replace(explanation, spent=()) if self.part else explanation

    def _detail(self, verdict: str, explanation: Explanation, comparison: Comparison, observation: Observation) -> str:
        """The reason for the verdict, and the kinds that the comparison does not show."""
        if verdict == "error":
            return observation.fault
        if verdict == "unavailable":
            more = "" if comparison.detail == observation.lacking else f": {comparison.detail}"
            return (observation.lacking or _HAS_KERNEL) + more
        parts = [comparison.detail, wording.others(comparison)]
        if verdict == "stale":
            parts = [self._spent(explanation), *parts]
        elif verdict == "mismatch" and explanation.here:
            parts = [self._expected(explanation), *parts]
        elif verdict == "match" and explanation.unseen:
            places = "; ".join(str(self.context.known.stands(n)) for n, _ in explanation.unseen)
            parts = [f"known elsewhere, not seen on this processor: {places}", *parts]
        return " ".join(filter(None, parts))

    def _expected(self, explanation: Explanation) -> str:
        """The kinds that entries expect at the place of a mismatch."""
        each = (
            " ".join(filter(None, (f"{self.context.known.stands(n)} expects {e.kind}", e.code, _within(e))))
            for n, e in explanation.here
        )
        return f"{'; '.join(each)} here."

    def _spent(self, explanation: Explanation) -> str:
        """The entries that are about a place at which their kind does not occur."""
        each = (f"{self.context.known.stands(n)} ({e.cause.reason})" for n, e in explanation.spent)
        kinds = "/".join(dict.fromkeys(entry.kind for _, entry in explanation.spent))
        fails = f"no longer fails by {kinds}" if explanation.kinds else "no longer fails"
        return f"{fails}: delete or narrow {'; '.join(each)}"

    def restored(self, plan: Plan, record: Record) -> Record:
        """A record against NumPy that a recording holds in place of arrays, as one of this run.

        Its shown kind, and the numbers of that kind, are those of the recorded run.
        """
        context, device = self.context, str(plan.device)
        origin = vars(context.origin(device))
        row = replace(record, run=context.run, started=context.started, device=device, **origin)
        if row.verdict not in ("known", "mismatch", "stale", "match", "contract"):
            return row
        contract = row.verdict == "contract"
        kinds = () if contract else row.every_kind
        code = row.got if row.kind == "error_code" else code_in(row.got)
        difference = Difference(kinds, code, row.max_ulp)
        traits = context.known.facts(device).traits
        explanation = Explanation.of(difference, context.known.about(place_of(row), row.tf), traits=traits)
        verdict = classify(Facts(differs=bool(kinds), contract=contract, **explanation.facts))
        if verdict == "stale":
            row = replace(row, detail=self._spent(explanation))
        elif not contract:
            row = replace(row, owner="", reason="", link="", cause="")
        row = explanation.explain(replace(row, verdict=verdict))
        return _with_severity(row, explanation, row.dtype)

    def absent(self, trial: Trial, why: str) -> Record:
        """The record of a cell that a recording lacks; `trial` has no observation."""
        without = replace(trial, observation=Observation({}, lacking=why))
        return self.decide(without, "output[0]", Comparison(kind="status", detail=why))

    def broken(self, trial: Trial, message: str) -> Record:
        """The record of a case whose reference failed; `trial` has no observation."""
        row = row_of(self.context, trial, Comparison(kind="reference"), against="numpy", quantity="output[0]")
        return replace(row, verdict="error", detail=_one_line(message))


def _within(entry: Entry) -> str:
    return f"within {entry.within}" if entry.within else ""


def _with_severity(
    record: Record, explanation: Explanation, dtype: str, comparison: Comparison | None = None
) -> Record:
    """The record with the severity of its difference: the highest of its causes, or of the kinds without explanation.

    `dtype` is the name of the result's dtype. Without the comparison, the distances of the record count.
    """
    named = ""
    if record.verdict == "known":
        named = next((entry.cause.severity for _, entry in explanation.named("known")), "")
    elif record.verdict == "mismatch":
        by_kind = {one.kind: one for one in comparison.each} if comparison else {}
        each = set()
        for kind in explanation.unexplained:
            one = by_kind.get(kind, Comparison())
            ulps = record.max_ulp if math.isnan(one.counted_ulp) else one.counted_ulp
            each.add(severity.of_difference(kind, record.quantity, ulps, dtype, at_edge=one.at_edge))
        named = next((name for name in severity.SEVERITIES if name in each), "")
    return replace(record, severity=named) if named != record.severity else record


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]


def _with_leftovers(detail: str, observation: Observation | None) -> str:
    """A detail on one line, with what the op left behind in its process at the end."""
    if observation is None or not observation.left_behind:
        return _one_line(detail)
    left = f"The op left behind: {observation.left_behind}"[: _LONGEST // 2]
    return _one_line(f"{_one_line(detail)[: _LONGEST - len(left) - 1]} {left}")


def _lacking(observation: Observation, result: Result, comparison: Comparison, plan: Plan) -> bool:
    """Whether the result is an error because a kernel, or something else that the program needs, is missing.

    The error must have a code by which TensorFlow reports a missing kernel: an op has no other way to say that it can't
    run here. On the CPU a wrong code is none: references describe the CPU, and a missing kernel may be what they
    promise. Where they promise it, and a device other than the CPU has the kernel, the promise is missing instead.
    """
    elsewhere = plan.device.type != "cpu"
    if comparison.without_kernel:
        return elsewhere and result.status == "value"
    expected = comparison.kind == "status" or (comparison.kind and result.code == "Unavailable")
    expected = expected or (comparison.kind == "error_code" and elsewhere)
    return bool(observation.lacking and result.status == "error" and expected and result.code in _OF_MISSING)
