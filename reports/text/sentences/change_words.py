"""Change words: the sentences about changes between two runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.reports.text.counted import many, names
from tf_opdiff.reports.text.sentences import sentence

#: The meaning of each change, for readers.
MEANINGS = {
    "new": "fails or is known now, and did neither before",
    "changed": "another verdict or kind",
    "fixed": "failed or was known before, and is as promised now",
    "drifted": "same verdict, but the distance moved",
    "appeared": "only in the later run",
    "disappeared": "only in the earlier run",
    "unchanged": "same verdict and kind",
}
#: What a bitwise comparison says about the numbers of a cause.
NUMBERS = {
    "differ": "other bits from TensorFlow",
    "same": "the same bits from TensorFlow: spec, reference, budget or known failures changed",
    "differ same": "other bits from TensorFlow in some of them",
}


def title(cause: Mapping[str, Any]) -> str:
    """The change of a cause and how many records have it: `signed zero, match → mismatch: 12 records in 4 cases`.

    The plans follow.
    """
    verdicts = cause["was"]
    if cause["was"] != cause["now"]:
        verdicts = f"{cause['was'] or 'no record'} → {cause['now'] or 'no record'}"
    change = ", ".join(filter(None, [cause["kind"].replace("_", " "), verdicts]))
    cases = "" if cause["records"] == cause["cases"] == 1 else f" in {many(cause['cases'], 'case')}"
    return f"{change}: {many(cause['records'], 'record')}{cases} on {cause['plans']}"


def example(change: str, was: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> str:
    """The sentence about the record that represents a cause; `was` and `now` are None where a run has no record."""
    if change == "drifted" and was is not None and now is not None:
        return _drift(was, now)
    row, prefix = (was, "Was: ") if change == "fixed" else (now, "")
    if row is None:
        return ""
    text = prefix + sentence.of_record(row)
    values = sentence.values(row)
    text += f" {values[0].upper()}{values[1:]}." if values else ""
    if was is None:
        return text
    if change == "new" and not math.isnan(was["max_ulp"]):
        text += f" Before: {sentence.number(was['max_ulp'])} ULP of {sentence.number(was['budget'])} allowed."
    if change == "changed" and was["kind"] and was["kind"] == row["kind"] and was["got"] != row["got"]:
        text += f" Before: got {was['got']}."
    return text


def _drift(was: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    budgets = [sentence.number(row["budget"]) for row in (was, now)]
    allowed = budgets[1] if budgets[0] == budgets[1] else f"{budgets[1]} (before: {budgets[0]})"
    distances = " → ".join(sentence.number(row["max_ulp"]) for row in (was, now))
    place = f"{now['case']}, {now['quantity']} on {PlanName(now['device'], now['mode'])}"
    return f"{place} against {now['against']}: {distances} ULP of {allowed} allowed."


def ran(row: Mapping[str, Any]) -> str:
    """A change of the executed ops or of the device; `row` is one of
    `reports.analysis.comparisons.execution.executed`."""
    cases = f"{many(row['records'], 'record')} in {many(row['cases'], 'case')} on {row['plans']}"
    return f"{names(row['specs'])}: {row['what']} {row['was']} → {row['now']}, {cases}"


def scope(row: Mapping[str, Any]) -> str:
    """Records that only one run has; `row` is one of `reports.analysis.comparisons.one_sided.one_sided`."""
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
    """How many numbers changed, and how far; `row` is one of `reports.analysis.comparisons.silent_changes.silent`."""
    erratic = ", in runs that do not give the same bits twice" if row["erratic"] else ""
    if row["what"] != "values":
        return ("another status" if row["what"] == "status" else "another dtype, shape or sparsity") + erratic
    text = f"{row['differing']:,} of {row['size']:,} elements"
    if math.isinf(row["apart"]):
        text += ", to or from NaN or infinity"
    elif not math.isnan(row["apart"]):
        text += f", at most {sentence.number(row['apart'])} ULP"
    return text + erratic
