"""Explain: finds the known failures that explain the difference of a record, on any processor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tf_opdiff.harness.judge.differences.comparison import Comparison
from tf_opdiff.harness.judge.known_failures.entry import Difference
from tf_opdiff.harness.judge.known_failures.explanation import Excused, Explanation
from tf_opdiff.harness.judge.known_failures.known import Known, Numbered, place_of
from tf_opdiff.harness.judge.known_failures.processor import on_another_processor, relaxed
from tf_opdiff.harness.judge.known_failures.region import RegionError
from tf_opdiff.harness.judge.verdicts.trial import Context, Trial
from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.spec.spec import BY_PATTERNS
from tf_opdiff.harness.store.records.record import Record


def difference_of(trial: Trial, quantity: str, comparison: Comparison) -> Difference:
    """The difference of a comparison, with the elements, inputs and upstreams that regions are about."""
    elements = {one.kind: one.elements for one in comparison.each or (comparison,) if one.elements is not None}
    code, swept = trial.result(quantity).code, trial.case.recipe in BY_PATTERNS
    return Difference(comparison.kinds, code, comparison.max_ulp, elements, trial.operands(quantity), swept)


def explain(context: Context, row: Record, difference: Difference, excused: Excused = None) -> Explanation:
    """The explanation of a record's difference by known failures.

    Args:
      context: it has the known failures and the devices of the run.
      row: the record, before its verdict.
      difference: the difference between the result and its oracle.
      excused: see `Explanation.of`.
    """
    known, place, other = context.known, place_of(row), PlanName.parse(row.against)
    excusing: tuple[Numbered, ...] = ()
    if other and row.against != row.plan:
        elsewhere = {**place, "device": other.device, "mode": other.mode, "against": "numpy"}
        excusing = known.about(elsewhere, context.origin(other.device).tf)
    here, between_plans = known.about(place, row.tf), place["against"] == "plan"
    try:
        explanation = Explanation.of(difference, here, excusing, between_plans=between_plans, excused=excused)
        if not known.measured(row.device):
            related = _related(known, place, row.tf, explanation.unexplained)
            explanation = on_another_processor(explanation, difference, related)
    except RegionError as error:
        return Explanation(tuple(difference.kinds), here, (), (), excusing, fault=str(error))
    return explanation


def _related(known: Known, place: Mapping[str, str], tf: str, kinds: Sequence[str]) -> list[Numbered]:
    """The entries that would be about a place if they were about each of its dtypes, recipes and traits."""
    each = [(n, relaxed(entry, kind)) for n, entry in known.of_spec(place["spec"]) for kind in kinds]
    facts = known.facts(place["device"])
    return [(n, entry) for n, entry in each if entry and entry.selects(place, tf, *facts)]


def without_spent(explanation: Explanation) -> Explanation:
    """The explanation without stale entries, for a part of a case: a known failure may lie outside of the part."""
    return replace(explanation, spent=(), absent=())
