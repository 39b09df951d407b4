"""Claim verdicts: the verdicts on claims that the records of a run give."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from tf_opdiff.harness.store.records.record import CLAIM
from tf_opdiff.reports.data.run_data.plans import joined, plans
from tf_opdiff.reports.text.verdicts import CLAIM_COLUMN_OF, CLAIM_VERDICT_OF

#: The columns that identify a verdict on a claim.
KEYS = ["claim", "tf", "device", "mode"]
#: The columns that count the records of a claim by what they say of it.
COUNTS = tuple(CLAIM_VERDICT_OF)
#: The verdicts of records that refute their claim.
REFUTING = tuple(verdict for verdict, column in CLAIM_COLUMN_OF.items() if column == "refuted")
COLUMNS = (*KEYS, "verdict", *COUNTS)


def verdicts(records: pd.DataFrame, keys: Sequence[str] = KEYS) -> pd.DataFrame:
    """The verdict on each claim for each TensorFlow version and plan, derived from the records.

    Columns: the `keys`, which are `claim`, `tf`, `device` and `mode`, and may have `spec` among them; `verdict`, one of
    `confirmed`, `refuted`, `true only where`, `unavailable` and `faulty`; how many records `held`, `refuted`, were
    `unavailable` or `faulty`. A record is a claim × case × plan.
    """
    some = records[records["against"].astype(str).str.startswith(CLAIM)]
    columns = some[[key for key in keys if key != "claim"]].astype(str)
    columns["claim"] = some["against"].astype(str).str.removeprefix(CLAIM)
    columns["column"] = some["verdict"].astype(str).map(CLAIM_COLUMN_OF)
    table = columns.groupby([*keys, "column"]).size().unstack("column", fill_value=0)
    table = table.reindex(columns=list(COUNTS), fill_value=0).rename_axis(columns=None).reset_index()
    each = table[list(COUNTS)].to_dict("records")
    combined = [overall([CLAIM_VERDICT_OF[str(column)] for column, n in row.items() if n]) for row in each]
    table.insert(len(keys), "verdict", combined)
    return table


def overall(verdicts: Sequence[str]) -> str:
    """One verdict out of those on several cases, plans or versions."""
    distinct = {verdict for verdict in verdicts if verdict != "unavailable"}
    if not distinct:
        return "unavailable" if verdicts else "not run in this run"
    if "faulty" in distinct:
        return "faulty"
    return distinct.pop() if len(distinct) == 1 else "true only where"


def changed(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The claims on which the verdict changed: `claim`, `was`, `now` (empty where a run has no verdict), `plans`.

    `before` and `after` are results of `verdicts`.
    """
    keys = ["claim", "device", "mode"]
    both = before[[*keys, "verdict"]].merge(after[[*keys, "verdict"]], "outer", on=keys, suffixes=("_before", ""))
    both = both.fillna("")
    both = both[both["verdict"] != both["verdict_before"]]
    both = both.assign(plan=plans(both).astype("str"))
    rows = [
        {"claim": claim, "was": was, "now": now, "plans": joined(group["plan"])}
        for (claim, was, now), group in both.groupby(["claim", "verdict_before", "verdict"])
    ]
    return pd.DataFrame(rows, columns=["claim", "was", "now", "plans"])
