"""Headline: the largest finding of a run, where it occurs, and its simplest example, in two lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.data.failure_title import failure_title
from tf_opdiff.reports.data.plans import in_order
from tf_opdiff.reports.text import sentence
from tf_opdiff.reports.text.counted import many

#: The most plans or dtypes that a headline names.
NAMED = 4


def headline(records: pd.DataFrame, info: RunInfo) -> list[str]:
    """Two lines about the finding with most records: what fails and where, and an example.

    The first line counts the other findings. The list is empty for a run in which no record fails.
    """
    findings = tables.findings(records)
    failing = tables.rows(findings[findings["verdict"].isin(FAILING)])
    if not failing:
        return []
    worst, record = failing[0], tables.row(records, failing[0]["first"])
    partial = "Partial run: " if sentence.shortfalls(info) else ""
    more = "" if len(failing) == 1 else f" {many(len(failing) - 1, 'more finding')} below."
    return [f"{partial}{_failure(worst, record)} {_where(records, worst)}.{more}", _example(record)]


def _failure(finding: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    spec, quantities = finding["spec"], finding["quantities"].split()
    return failure_title(spec, finding["verdict"], finding["kind"], quantities=quantities, against=record["against"])


def _where(records: pd.DataFrame, finding: Mapping[str, Any]) -> str:
    """The plans and dtypes of a finding, out of those on which the spec was tested."""
    ran = records[(records["spec"].astype(str) == finding["spec"]) & (records["verdict"].astype(str) != "unavailable")]
    tested = {"plan": in_order(tables.plans(ran).astype(str)), "dtype": sorted(set(ran["dtype"].astype(str)))}
    wrong = {"plan": finding["plans"].split(), "dtype": finding["dtypes"].split()}
    plans, dtypes = (_some(name, wrong[name], tested[name]) for name in ("plan", "dtype"))
    everywhere = all(set(wrong[name]) == set(tested[name]) for name in tested)
    return f"everywhere: on {plans}, in {dtypes}" if everywhere else f"on {plans}, in {dtypes}"


def _some(noun: str, wrong: list[str], tested: list[str]) -> str:
    """`all 4 plans`, or the names of some of several: `cpu/xla (1 of 4 plans)`."""
    if len(tested) > 1 and len(wrong) == len(tested):
        return f"all {len(tested)} {noun}s"
    names = ", ".join(wrong[:NAMED]) + (", …" if len(wrong) > NAMED else "")
    return names if len(tested) == 1 else f"{names} ({len(wrong)} of {len(tested)} {noun}s)"


def _example(record: Mapping[str, Any]) -> str:
    numbers = record["example"] or sentence.values(record) or record["detail"]
    numbers = numbers if record["verdict"] == "mismatch" else record["detail"] or numbers
    plan = str(PlanName(record["device"], record["mode"]))
    against = "" if record["against"] == plan else f", against {record['against']}"
    place = f"{record['case']}, {record['quantity']} on {plan}{against}"
    return f"Example: {numbers} ({place})." if numbers else f"Example: {place}."
