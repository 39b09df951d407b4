"""Execution: the ops that two runs executed and the devices on which they ran, where they differ."""

from __future__ import annotations

import pandas as pd

from tf_opdiff.reports.data.figures.pairs import common
from tf_opdiff.reports.data.run_data.plans import joined

#: The columns of a record that say what was executed, with the words for each.
WORDS = {"raw_op": "executed ops", "ran_on": "ran on"}
_COLUMNS = ["what", "was", "now", "plans", "specs", "cases", "records"]


def executed(changes: pd.DataFrame, before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The records whose executed graph has other ops, or whose ops ran on another device, whatever the verdict.

    One row for each difference × its plans; most records first.

    Columns: `what`, a value of `WORDS`; `was` and `now`, the values in the two runs; `plans`; `specs`, a dict from
    names to numbers of records, most first; `cases` and `records`, counts.

    Args:
      changes: the result of `reports.analysis.comparisons.changes.diff` for these records. Records that only one run
        has are left out, and so are those for which one run recorded nothing, such as an error before there was a
        graph.
      before: the records of the earlier run.
      after: those of the later one.
    """
    both = changes[(changes["before"] >= 0) & (changes["after"] >= 0)]
    rows = []
    for name, what in WORDS.items():
        old, new, texts = common(_unordered(before[name]), _unordered(after[name]))
        was, now = old[both["before"].to_numpy()], new[both["after"].to_numpy()]
        empty = [i for i, text in enumerate(texts) if not text]
        moved = (was != now) & ~pd.Series(was).isin(empty).to_numpy() & ~pd.Series(now).isin(empty).to_numpy()
        some = both.loc[moved, ["spec", "case", "plan"]].astype("str").assign(was=was[moved], now=now[moved])
        for (code_before, code_after), same_move in some.groupby(["was", "now"]):
            plans = same_move.groupby("spec")["plan"].agg(joined)
            for where, group in same_move.groupby(same_move["spec"].map(plans)):
                counts = group["spec"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
                specs = {str(spec): int(n) for spec, n in counts.items()}
                row = {"what": what, "was": str(texts[code_before]), "now": str(texts[code_after]), "plans": str(where)}
                rows.append(row | {"specs": specs, "cases": group["case"].nunique(), "records": len(group)})
    return pd.DataFrame(rows, columns=_COLUMNS).sort_values(
        "records", ascending=False, kind="stable", ignore_index=True
    )


def _unordered(column: pd.Series) -> pd.Series:
    """The names in each text, sorted: the order of a graph's functions changes from one trace to the next."""
    in_order = {text: ";".join(sorted(str(text).split(";"))) for text in column.unique()}
    return column.astype("object").map(in_order).astype("category")
