"""Headline: what is wrong in a run, where, and the simplest example, in two lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.record import CLAIM, FAILING
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.data.tables import plan_order
from tf_opdiff.reports.text import sentence

#: Plans or dtypes that are named.
NAMED = 4
_WRONG = {
    "status": "gives an error in place of a value, or a value in place of an error",
    "error_code": "raises another error than expected",
    "crash": "crashes",
    "hang": "hangs",
    "shape": "gives a wrong shape",
    "dtype": "gives a wrong dtype",
    "nan": "gives NaN where a number is expected, or a number where NaN is",
    "inf": "gives a wrong infinity",
    "signed_zero": "gives a zero of the wrong sign",
    "subnormal": "gives 0 in place of a subnormal number",
    "value": "gives wrong values",
    "gradient_status": "gives a gradient of the wrong kind (missing, zeros, dense or sparse)",
    "nondeterministic": "gives different results when it runs twice",
    "position": "gives results that depend on the position in the tensor",
    "input_mutated": "changes its inputs",
    "reference": "has a reference that fails",
}


def headline(records: pd.DataFrame, info: RunInfo) -> list[str]:
    """Two lines: what is wrong and where; an example. Nothing of a run in which no record fails.

    They are about the finding with most records; other findings are counted.
    """
    found = tables.findings(records)
    found = found[found["verdict"].isin(FAILING)]
    if not len(found):
        return []
    rows = tables.rows(found)
    worst, record = rows[0], tables.row(records, rows[0]["first"])
    partial = "Partial run: " if sentence.shortfalls(info) else ""
    more = "" if len(rows) == 1 else f" {len(rows) - 1:,} more {'finding' if len(rows) == 2 else 'findings'} below."
    return [f"{partial}{_what(worst, record)} {_where(records, worst)}.{more}", _example(record)]


def _what(finding: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    spec, families = finding["spec"], {q.partition("[")[0] for q in finding["quantities"].split()}
    if finding["verdict"] == "stale":
        return f"{spec} no longer fails as its known failure says"
    if finding["verdict"] == "error":
        return f"The suite itself is at fault, so {spec} proves nothing"
    if str(record["against"]).startswith(CLAIM):
        return f"{spec} does not bear out what a claim was expected to say"
    subject = spec if "output" in families else f"The gradient of {spec}"
    return f"{subject} {_WRONG.get(finding['kind'], 'fails')}"


def _where(records: pd.DataFrame, finding: Mapping[str, Any]) -> str:
    """On which plans and dtypes, of those on which the spec was tested."""
    ran = records[(records["spec"].astype(str) == finding["spec"]) & (records["verdict"].astype(str) != "unavailable")]
    tested = {"plan": sorted(set(tables.plans(ran).astype(str)), key=plan_order), "dtype": _unique(ran["dtype"])}
    wrong = {"plan": finding["plans"].split(), "dtype": finding["dtypes"].split()}
    plans, dtypes = (_some(name, wrong[name], tested[name]) for name in ("plan", "dtype"))
    everywhere = all(set(wrong[name]) == set(tested[name]) for name in tested)
    return f"everywhere: on {plans}, in {dtypes}" if everywhere else f"on {plans}, in {dtypes}"


def _unique(column: pd.Series) -> list[str]:
    return sorted(set(column.astype(str)))


def _some(noun: str, wrong: list[str], tested: list[str]) -> str:
    """`all 4 plans`, or by name where it is not all of several: `cpu/xla (1 of 4 plans)`."""
    if len(tested) > 1 and len(wrong) == len(tested):
        return f"all {len(tested)} {noun}s"
    names = ", ".join(wrong[:NAMED]) + (", …" if len(wrong) > NAMED else "")
    return names if len(tested) == 1 else f"{names} ({len(wrong)} of {len(tested)} {noun}s)"


def _example(record: Mapping[str, Any]) -> str:
    numbers = record["example"] or sentence.values(record) or record["detail"]
    numbers = numbers if record["verdict"] == "mismatch" else record["detail"] or numbers
    against = "" if record["against"] == f"{record['device']}/{record['mode']}" else f", against {record['against']}"
    place = f"{record['case']}, {record['quantity']} on {record['device']}/{record['mode']}{against}"
    return f"Example: {numbers} ({place})." if numbers else f"Example: {place}."
