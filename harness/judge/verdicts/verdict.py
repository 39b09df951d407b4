"""Verdict: a comparison read in the light of contracts and known failures, as a record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.differences.compare import code_in, compare, illustrated
from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.differences.detail import detail, spent
from tf_opdiff.harness.judge.differences.row import row_of
from tf_opdiff.harness.judge.differences.self_check import with_itself
from tf_opdiff.harness.judge.known_failures.entry import Difference
from tf_opdiff.harness.judge.known_failures.explain import difference_of, explain, without_spent
from tf_opdiff.harness.judge.known_failures.explanation import Excused, Explanation
from tf_opdiff.harness.judge.promises.want import Want, unlisted
from tf_opdiff.harness.judge.verdicts import claim, severity
from tf_opdiff.harness.judge.verdicts.classify import Facts, classify
from tf_opdiff.harness.judge.verdicts.judgement import Judgement
from tf_opdiff.harness.judge.verdicts.trial import LOST, Context, Origin, Trial
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.store.records.record import Record

#: The names that a run needs to judge its observations.
__all__ = ("LOST", "Context", "Judge", "Judgement", "Origin", "Trial", "comparisons")

#: The most characters of a detail.
_LONGEST = 1000
#: The codes by which TensorFlow reports that a device lacks a kernel, or programs that another part is missing.
_OF_MISSING = ("INVALID_ARGUMENT", "NOT_FOUND", "UNIMPLEMENTED", "Unavailable", LOST.code)
#: The message of TensorFlow about a dtype that a device can't take as an argument of a function, or as its result.
_NO_ARGUMENT = "does not have registered OpKernel support for _"


def comparisons(trial: Trial, wants: Mapping[str, Want], base: Plan | None = None) -> dict[str, Comparison]:
    """The comparison of each promised quantity of a trial, and of each observed quantity that is not promised.

    `wants` are the promises of the case, or the results of another plan: see `Want.from_other`.
    """
    case, inputs, compared = trial.case, trial.inputs, {}
    beyond = dict.fromkeys(trial.observation.quantities.keys() - wants.keys(), unlisted(wants.values()))
    for quantity, want in {**wants, **beyond}.items():
        result = trial.result(quantity)
        comparison = compare(result, want, quantity, inputs=inputs)
        differs = comparison.kind or (comparison.undocumented and comparison.detail)
        if not differs and case.spec.side(trial.plan):
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

    def judgements(
        self,
        trial: Trial,
        wants: Mapping[str, Want],
        base: Plan | None = None,
        excused: Mapping[str, Excused] | None = None,
    ) -> dict[str, Judgement]:
        """The judgement of each comparison of a trial with promises, or with results of a base; see `comparisons`.

        `excused` has the elements of each quantity that the plan or its base is known to get wrong.
        """
        compared, against = comparisons(trial, wants, base), str(base) if base else "numpy"
        of = excused or {}
        return {q: self.judged(trial, q, one, against=against, excused=of.get(q)) for q, one in compared.items()}

    def against_promises(
        self,
        trial: Trial,
        wants: Mapping[str, Want],
        base: Plan | None = None,
        excused: Mapping[str, Excused] | None = None,
    ) -> list[Record]:
        """The records of `judgements`."""
        return [judgement.record for judgement in self.judgements(trial, wants, base, excused).values()]

    def against_itself(self, trial: Trial, wants: Mapping[str, Want]) -> list[Record]:
        """A record for each observed promised quantity, against the plan itself; see
        `harness.judge.differences.self_check`."""
        compared = {quantity: with_itself(trial, quantity, want) for quantity, want in wants.items()}
        return [self.decide(trial, q, c, against=str(trial.plan)) for q, c in compared.items() if c is not None]

    def against_claims(self, trial: Trial, promises: claim.Promises, wants: Mapping[str, Want]) -> list[Record]:
        """A record for each claim about the trial's spec and plan; see `harness.judge.verdicts.claim`."""
        return claim.judge(self.context, trial, promises, wants)

    def decide(
        self, trial: Trial, quantity: str, comparison: Comparison, *, against: str = "numpy", side: Side | None = None
    ) -> Record:
        """The record of the judgement on a comparison; see `judged`."""
        return self.judged(trial, quantity, comparison, against=against, side=side).record

    def judged(
        self,
        trial: Trial,
        quantity: str,
        comparison: Comparison,
        *,
        against: str = "numpy",
        side: Side | None = None,
        excused: Excused = None,
    ) -> Judgement:
        """The meaning of a comparison in the light of contracts and known failures.

        `side` is the side of the contract in the comparison; without it, the spec's side for the plan. `excused` has
        the elements that one of two plans is known to get wrong.
        """
        context, plan, observation = self.context, trial.plan, trial.observation
        side = None if against == str(plan) else side or trial.case.spec.side(plan)
        result = trial.result(quantity)
        row = row_of(context, trial, comparison, against=against, quantity=quantity)
        explanation = explain(context, row, difference_of(trial, quantity, comparison), excused)
        if self.part:
            explanation = without_spent(explanation)
        facts = Facts(
            fault=bool(observation.fault or explanation.fault),
            lacking=_lacking(observation, result, comparison, plan),
            differs=bool(comparison.kind),
            contract=side is not None or bool(comparison.undocumented),
            **explanation.facts,
        )
        verdict, shown = classify(facts), comparison
        if (kind := explanation.shown(verdict)) != comparison.kind:
            shown = comparison.showing(kind)
            row = row_of(context, trial, shown, against=against, quantity=quantity)
        why = detail(verdict, explanation, shown, observation, context.known) or (side.why if side else "")
        why = ": ".join(filter(None, (trial.case.spec.name_of(quantity), why)))
        if facts.fault:
            row = replace(row, kind=shown.kind or "status", kinds=row.kinds or "status")
        row = explanation.explain(replace(row, verdict=verdict))
        if side and not row.cause:
            row = replace(row, reason=side.why, link=side.link)
        if comparison.undocumented and not row.cause:
            row = replace(row, reason=comparison.undocumented)
        record = replace(row, detail=_with_leftovers(why, observation if against == "numpy" else None))
        record = context.maturity.graded(record, came=result.status in ("value", "sparse"))
        dtype, shape = (record.dtype, ()) if result.value is None else (result.value.dtype.name, result.value.shape)
        record = _with_severity(record, explanation, dtype, shown)
        return Judgement(record, comparison, explanation, shape)

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
        explanation = explain(context, row, Difference(kinds, code, row.max_ulp))
        verdict = classify(Facts(differs=bool(kinds), contract=contract, **explanation.facts))
        if verdict == "stale":
            row = replace(row, detail=spent(explanation, context.known))
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
    if elsewhere and result.code == "INTERNAL" and _NO_ARGUMENT in result.message:
        return True
    expected = comparison.kind == "status" or (comparison.kind and result.code == "Unavailable")
    expected = expected or (comparison.kind == "error_code" and elsewhere)
    return bool(observation.lacking and result.status == "error" and expected and result.code in _OF_MISSING)
