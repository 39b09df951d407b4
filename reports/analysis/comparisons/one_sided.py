"""One-sided: the records that only one of two runs has, in as few rows as possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.harness.store.records.record import CLAIM, FAILING
from tf_opdiff.reports.data.run_data.plans import joined

#: Why only one run has a record, the widest reason first.
LEVELS = ("plan", "spec", "cases", "runs", "comparisons")
_COLUMNS = ["level", "name", "specs", "cases", "records", "failing", "lost", "plans"]


def one_sided(changes: pd.DataFrame, change: str) -> pd.DataFrame:
    """The records that only one run has, in as few rows as possible.

    Args:
      changes: the result of `reports.analysis.comparisons.changes.diff`.
      change: `appeared` or `disappeared`.

    Columns: `level`, the widest reason: `plan` (the other run has no record under this plan), `spec`, `cases` (of specs
    that both have), `runs` (of cases that both have, under plans for which the other run has other cases),
    `comparisons` (of runs that both have); `name`: the device, or the sort of comparisons; `specs`, a dict from names
    to numbers of records, most first; `cases` and `records`, counts; `failing`, how many of the records fail; `lost`,
    how many were planned and have no result; `plans`.
    """
    by_spec = _by_spec(_described(changes.reset_index(drop=True), change))
    rows: list[dict[str, Any]] = []
    for (level, name, _), group in by_spec.groupby(["level", "name", "by"], sort=False):
        group = group.sort_values(["records", "spec"], ascending=[False, True])
        rows.append(
            {"level": level, "name": name}
            | {"specs": dict(zip(group["spec"], group["records"].tolist(), strict=True))}
            | {column: int(group[column].sum()) for column in ("cases", "records", "failing", "lost")}
            | {"plans": joined(frozenset().union(*group["plans"]))}
        )
    rows.sort(key=lambda row: (LEVELS.index(row["level"]), -row["records"]))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _described(changes: pd.DataFrame, change: str) -> pd.DataFrame:
    """A row for each of these records, with the columns that group and count it."""
    some = changes[changes["change"] == change]
    level = _levels(changes, some.index, (changes["before" if change == "appeared" else "after"] >= 0).to_numpy())
    plan, spec, case = (some[name].astype("str") for name in ("plan", "spec", "case"))
    words = [some["device"].astype(str).to_numpy(object), _comparisons(some, plan)]
    name = np.select([level == "plan", level == "comparisons"], words, "")
    columns = {"level": level, "name": name, "plan": plan, "spec": spec, "case": case, "lost": some["lost"]}
    verdict = some["verdict_before" if change == "disappeared" else "verdict"]
    return pd.DataFrame(columns | {"fails": verdict.isin(FAILING)})


def _levels(changes: pd.DataFrame, rows: pd.Index, in_other_run: np.ndarray) -> np.ndarray:
    """The level of each of these rows; `in_other_run` says of each change whether the other run has its record."""
    if not len(changes):
        return np.array([], str)
    codes = {name: changes[name].cat.codes.to_numpy().astype(np.int64) for name in ("plan", "spec", "case")}
    codes["cell"] = pd.factorize(codes["case"] * (codes["plan"].max(initial=0) + 1) + codes["plan"])[0]
    absent = [(np.bincount(code, in_other_run) == 0)[code[rows]] for code in codes.values()]
    return np.select(absent, list(LEVELS[:-1]), LEVELS[-1])


def _comparisons(some: pd.DataFrame, plan: pd.Series) -> np.ndarray:
    """The sort of comparison of each record, in words."""
    against = some["against"].astype(str)
    return np.select(
        [against == "numpy", against.str.startswith(CLAIM), against == plan],
        ["with NumPy", "with claims", "with themselves, run again"],
        "with other plans",
    )


def _by_spec(described: pd.DataFrame) -> pd.DataFrame:
    """One row for each level, name and spec; `by` is what groups specs: their plans, for some levels."""
    keys = ["level", "name", "spec"]
    table = described.groupby(keys, sort=False).agg(
        cases=("case", "nunique"), records=("case", "size"), failing=("fails", "sum"), lost=("lost", "sum")
    )
    table["plans"] = described.drop_duplicates([*keys, "plan"]).groupby(keys, sort=False)["plan"].agg(frozenset)
    table = table.reset_index()
    return table.assign(by=table["plans"].map(joined).mask(table["level"].isin(["plan", "comparisons"]), ""))
