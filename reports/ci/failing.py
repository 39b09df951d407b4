"""Failing: the causes of the failures in one or more runs, each with the text of its issue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tf_opdiff.harness.store.records.record import FAILING
from tf_opdiff.reports.analysis.comparisons.causes import causes
from tf_opdiff.reports.analysis.comparisons.changes import diff
from tf_opdiff.reports.ci import issue_text
from tf_opdiff.reports.ci.issue_text import CauseRecords, Place
from tf_opdiff.reports.ci.night_runs import NightRun
from tf_opdiff.reports.data.causes.discrepancy import severity_order
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import frame, shards
from tf_opdiff.reports.data.run_data.plans import in_order


@dataclass(frozen=True)
class Cause:
    """Records that fail in the same way on the same plans: the place, and the title and text of its issue."""

    place: Place
    title: str
    body: str


def gather(nights: Sequence[NightRun], site: str = "") -> list[Cause]:
    """The causes of the failures in all the runs, the most severe first, then those that reach furthest.

    Args:
      nights: the runs.
      site: the pages' address.
    """
    parts = [night.records[night.records["verdict"].isin(FAILING)].assign(night=night.name) for night in nights]
    failing = pd.concat([part.astype({"night": "str"}) for part in parts], ignore_index=True)
    if not len(failing):
        return []
    texts = {name: "str" for name in shards.CATEGORIES if name in failing}
    records = frame.typed(failing.drop(columns="night").astype(texts))
    changes = diff(records.iloc[:0], records)  # against no run, every failing record has appeared
    records = records.assign(night=failing["night"], plan=tables.plans(records).astype(str))
    selected = [
        _records(row, records, tables.row(records, int(changes["after"].loc[row["example"]])))
        for row in tables.rows(causes(changes))
    ]
    selected.sort(key=_rank)
    return [Cause(one.place, issue_text.title(one), issue_text.body(one, nights, site)) for one in selected]


def _rank(one: CauseRecords) -> tuple[int, int]:
    """The key that sorts causes as `reports.data.causes.discrepancy.Discrepancy.rank` sorts discrepancies."""
    severities, ops = (set(one.records[name].astype("str")) for name in ("severity", "raw_op"))
    distinct_ops = {op for joined in ops for op in joined.split(";")} - {""}
    reach = one.records["plan"].nunique() * one.records["dtype"].nunique() * max(1, len(distinct_ops))
    return min(map(severity_order, severities)), -reach


def _records(row: Mapping[str, Any], records: pd.DataFrame, record: Mapping[str, Any]) -> CauseRecords:
    """The records of one cause; `row` is its row of `causes`, `record` the one that represents the rest."""
    own = records[records["spec"].isin(row["specs"]) & (records["verdict"].astype(str) == row["now"])]
    own = own[own["kind"].astype(str) == row["kind"]]
    own = own[own["reason"].astype(str) == row["reason"]] if row["reason"] else own
    runs = {str(night): in_order(some["plan"]) for night, some in own.groupby("night")}
    return CauseRecords(Place(row["now"], row["kind"], sorted(row["specs"]), runs, row["reason"]), row, record, own)
