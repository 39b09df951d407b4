"""Execution: what two runs executed, and where, as far as it differs, whatever the verdicts."""

from __future__ import annotations

import pandas as pd

from tf_opdiff.reports.data import tables
from tf_opdiff.reports.data.pairs import common

#: What a record says of it, and the words for that.
TOLD = {"raw_op": "executed ops", "ran_on": "ran on"}


def executed(changes: pd.DataFrame, before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Where the executed graph held other ops, or the ops ran elsewhere: one row for each way of it × its plans.

    Args:
      changes: what `reports.diff.diff` gives of these records. Those that only one run has are left out, and those of
        which one run does not tell it, as of an error before there was a graph.

    Columns: `what`, a value of `TOLD`; `was` and `now`, what the runs say; `plans`; `specs`, a dict from names to
    numbers of records, most first; `cases` and `records`, counts. Most records first.
    """
    both = changes[(changes["before"] >= 0) & (changes["after"] >= 0)]
    rows = []
    for name, what in TOLD.items():
        old, new, texts = common(_unordered(before[name]), _unordered(after[name]))
        was, now = old[both["before"].to_numpy()], new[both["after"].to_numpy()]
        empty = [i for i, text in enumerate(texts) if not text]
        moved = (was != now) & ~pd.Series(was).isin(empty).to_numpy() & ~pd.Series(now).isin(empty).to_numpy()
        some = both.loc[moved, ["spec", "case", "plan"]].astype("str").assign(was=was[moved], now=now[moved])
        for (one, other), way in some.groupby(["was", "now"]):
            plans = way.groupby("spec")["plan"].agg(lambda p: " ".join(sorted(set(p), key=tables.plan_order)))
            for where, group in way.groupby(way["spec"].map(plans)):
                counts = group["spec"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
                specs = {str(spec): int(n) for spec, n in counts.items()}
                told = {"what": what, "was": str(texts[one]), "now": str(texts[other]), "plans": str(where)}
                rows.append(told | {"specs": specs, "cases": group["case"].nunique(), "records": len(group)})
    found = pd.DataFrame(rows, columns=["what", "was", "now", "plans", "specs", "cases", "records"])
    return found.sort_values("records", ascending=False, kind="stable", ignore_index=True)


def _unordered(column: pd.Series) -> pd.Series:
    """The names of each text in one order: that of a graph's functions changes from one trace to the next."""
    told = {text: ";".join(sorted(str(text).split(";"))) for text in column.unique()}
    return column.astype("object").map(told).astype("category")
