"""Known failures: the records of a run that known failures cover."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from tf_opdiff.reports.data.figures.several import by_each_cause
from tf_opdiff.reports.data.run_data.plans import plan_order, plans


def known(records: pd.DataFrame) -> pd.DataFrame:
    """The records that known failures cover in a run: one row for each cause, the one with most records first.

    A record counts for each of its causes.

    Columns: `cause`, its id, empty in runs of earlier checkouts; `reason`, `owner`, `link`; `known`, `stale` and
    `other` count the records that fail as recorded, that no longer fail, and that do something else; `cases` counts;
    `kinds`, `specs`, `dtypes`, `plans` and `quantities` list where. Entries whose cases did not run have no row.
    """
    verdict = records["verdict"].astype(str)
    has_owner = (records["owner"].astype(str) != "") & ~verdict.isin(["match", "contract"])
    some = records[has_owner | verdict.isin(["known", "stale"])]
    some = by_each_cause(some)
    verdict = some["verdict"].astype(str)
    some = some.assign(plan=plans(some).astype(str), state=verdict.where(verdict.isin(["known", "stale"]), "other"))
    keys = ["cause", "reason", "owner", "link"]
    some = some[[*keys, "state", "case", "kind", "spec", "dtype", "plan", "quantity"]].astype("str")
    table = some.groupby([*keys, "state"]).size().unstack("state", fill_value=0)
    table = table.reindex(columns=["known", "stale", "other"], fill_value=0).astype("int64").rename_axis(columns=None)
    table["cases"] = some.groupby(keys)["case"].nunique()
    lists = {"kind": "kinds", "spec": "specs", "dtype": "dtypes", "plan": "plans", "quantity": "quantities"}
    for column, list_column in lists.items():
        each = some[[*keys, column]].drop_duplicates().groupby(keys)[column]
        table[list_column] = each.agg(_joined, order=plan_order if column == "plan" else str).astype("str")
    return table.reset_index().sort_values(
        ["known", "stale", "reason"], ascending=[False, False, True], ignore_index=True
    )


def _joined(names: pd.Series, order: Callable[[str], Any]) -> str:
    return " ".join(sorted(filter(None, names), key=order))
