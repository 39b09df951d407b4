"""Changelog: all that is told of two runs, and the words for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.analysis.causes import alone, causes, counts, example
from tf_opdiff.reports.analysis.execution import executed
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.data.run_environment import alike, differences
from tf_opdiff.reports.text import sentence

#: What each change means, for readers.
MEANS = {
    "new": "fails or is known now, and was neither",
    "changed": "of another verdict or kind",
    "fixed": "failed or was known, and is as promised now",
    "drifted": "as before, but the distance moved",
    "appeared": "only in the later run",
    "disappeared": "only in the earlier run",
    "unchanged": "as before",
}
NUMBERS = {
    "differ": "other bits from TensorFlow",
    "same": "the same bits from TensorFlow: spec, reference, budget or known failures changed",
    "differ same": "other bits from TensorFlow in some of them",
}
_NAMED = 3


@dataclass
class Changelog:
    """All that is told of two runs; `numbers` is what `reports.bits.silent` gives, None where nobody asked."""

    before: RunInfo
    after: RunInfo
    shortfalls: dict[str, list[str]]
    counts: dict[str, int]
    worse: int
    reset: int
    differences: list[dict[str, Any]]
    alike: dict[str, str]
    causes: list[dict[str, Any]]
    only: dict[str, list[dict[str, Any]]]
    claims: list[dict[str, Any]]
    numbers: list[dict[str, Any]] | None = None
    executed: list[dict[str, Any]] = field(default_factory=list)

    @property
    def status(self) -> str:
        """How the later run stands beside the earlier one, in one sentence."""
        partial = " Partial runs: see what is missing." if self.partial else ""
        if not sum(self.counts.values()):
            return "Neither run has a record." + partial
        if not self.worse:
            return "Nothing got worse." + partial
        return f"{self.worse:,} {'record' if self.worse == 1 else 'records'} got worse." + partial

    @property
    def partial(self) -> bool:
        return any(self.shortfalls.values())

    def of(self, change: str) -> list[dict[str, Any]]:
        """The causes of one change."""
        return [cause for cause in self.causes if cause["change"] == change]


def changelog(
    changes: pd.DataFrame,
    before: pd.DataFrame,
    after: pd.DataFrame,
    infos: tuple[RunInfo, RunInfo],
    *,
    claims: pd.DataFrame,
    numbers: pd.DataFrame | None = None,
) -> Changelog:
    """Gathers what is told; `changes` is what `reports.diff.diff` gives of these records."""
    gathered = []
    for cause in tables.rows(causes(changes)):
        was, now = example(changes, cause["example"], before, after)
        record = was if cause["change"] == "fixed" else now
        told = {
            "example": _example(cause["change"], was, now),
            "rerun": record["rerun"],
            "names": names(cause["specs"]),
        }
        reason = {name: record[name] for name in ("detail", "reason", "link")}
        gathered.append(cause | told | reason | {"numbers": NUMBERS.get(cause["numbers"], "")})
    return Changelog(
        *infos,
        shortfalls={"before": sentence.shortfalls(infos[0]), "after": sentence.shortfalls(infos[1])},
        counts=counts(changes),
        worse=int(changes["worse"].sum()),
        reset=int(changes["inputs_changed"].sum()),
        differences=tables.rows(differences(*infos)),
        alike=alike(*infos),
        causes=gathered,
        only={change: tables.rows(alone(changes, change)) for change in ("appeared", "disappeared")},
        claims=tables.rows(claims),
        numbers=None if numbers is None else tables.rows(numbers),
        executed=tables.rows(executed(changes, before, after)),
    )


def names(specs: Mapping[str, int]) -> str:
    """Specs by name, as far as a line holds them."""
    named = ", ".join(list(specs)[:_NAMED])
    return f"{named} and {len(specs) - _NAMED:,} more specs" if len(specs) > _NAMED + 1 else ", ".join(specs)


def _example(change: str, was: dict[str, Any] | None, now: dict[str, Any] | None) -> str:
    if change == "drifted" and was is not None and now is not None:
        budgets = [sentence.number(row["budget"]) for row in (was, now)]
        allowed = budgets[1] if budgets[0] == budgets[1] else f"{budgets[1]} (before: {budgets[0]})"
        moved = " → ".join(sentence.number(row["max_ulp"]) for row in (was, now))
        plan = f"{now['device']}/{now['mode']}"
        return f"{now['case']}, {now['quantity']} on {plan} against {now['against']}: {moved} ULP of {allowed} allowed."
    row, prefix = (was, "Was: ") if change == "fixed" else (now, "")
    if row is None:
        return ""
    text = prefix + sentence.of_record(row)
    values = sentence.values(row)
    text += f" {values[0].upper()}{values[1:]}." if values else ""
    if was is not None and change == "new" and not math.isnan(was["max_ulp"]):
        text += f" Before: {sentence.number(was['max_ulp'])} ULP of {sentence.number(was['budget'])} allowed."
    if (
        was is not None
        and change == "changed"
        and was["kind"]
        and was["kind"] == row["kind"]
        and was["got"] != row["got"]
    ):
        text += f" Before: got {was['got']}."
    return text


def title(cause: Mapping[str, Any]) -> str:
    """What became of how many: `signed zero, match → mismatch: 12 records in 4 cases on cpu/xla`."""
    verdicts = (
        cause["was"]
        if cause["was"] == cause["now"]
        else f"{cause['was'] or 'no record'} → {cause['now'] or 'no record'}"
    )
    what = ", ".join(filter(None, [cause["kind"].replace("_", " "), verdicts]))
    cases = "" if cause["records"] == cause["cases"] == 1 else f" in {many(cause['cases'], 'case')}"
    return f"{what}: {many(cause['records'], 'record')}{cases} on {cause['plans']}"


def ran(row: Mapping[str, Any]) -> str:
    """What was executed otherwise, or elsewhere, in words."""
    cases = f"{many(row['records'], 'record')} in {many(row['cases'], 'case')} on {row['plans']}"
    return f"{names(row['specs'])}: {row['what']} {row['was']} → {row['now']}, {cases}"


def many(n: int, noun: str) -> str:
    """A count and what is counted."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def scope(row: Mapping[str, Any]) -> str:
    """What only one run has, in words."""
    specs = f"{many(len(row['specs']), 'spec')} ({names(row['specs'])})"
    cases = many(row["cases"], "case")
    text = {
        "plan": f"device {row['name']}, all of {row['plans']}: {cases} of {many(len(row['specs']), 'spec')}",
        "spec": f"{specs}: {cases} on {row['plans']}",
        "cases": f"{cases} of {names(row['specs'])}, on {row['plans']}",
        "runs": f"{cases} of {names(row['specs'])}, which both runs have, on {row['plans']}",
        "comparisons": f"comparisons {row['name']}: in {cases} of {specs} on {row['plans']}",
    }[row["level"]]
    text += f", {many(row['records'], 'record')}"
    text += f", {row['failing']:,} of them failing" if row["failing"] else ""
    return text + (f", {row['lost']:,} of them planned but without a result" if row["lost"] else "")


def moved(row: Mapping[str, Any]) -> str:
    """How many numbers moved, and how far, in words."""
    erratic = ", of a run that does not give the same bits twice" if row["erratic"] else ""
    if row["what"] != "values":
        return ("another status" if row["what"] == "status" else "another dtype, shape or sparsity") + erratic
    text = f"{row['differing']:,} of {row['size']:,} elements"
    if math.isinf(row["apart"]):
        text += ", to or from NaN or infinity"
    elif not math.isnan(row["apart"]):
        text += f", at most {sentence.number(row['apart'])} ULP"
    return text + erratic
