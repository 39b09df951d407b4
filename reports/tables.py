"""Tables: what a run's records say, by op, plan, verdict and kind, as DataFrames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harness.plan import MODES
from harness.record import FAILING, KINDS, VERDICTS
from harness.rundir import RunInfo

#: Verdicts, the one that a reader has to see first in front.
SEVERITY = ("mismatch", "error", "stale", "known", "unavailable", "contract", "match")


def by_severity(verdicts: pd.Series) -> pd.Series:
    """The verdicts as an ordered category, the worst one lowest."""
    return verdicts.astype(str).astype(pd.CategoricalDtype(list(SEVERITY), ordered=True))


def plan_order(plan: object) -> tuple[bool, str, int, str]:
    """The key that sorts plans: the CPU first, then devices by name; modes as the harness lists them."""
    device, _, mode = str(plan).rpartition("/")
    return device != "cpu", device, MODES.index(mode) if mode in MODES else len(MODES), mode


def plans(records: pd.DataFrame) -> pd.Series:
    """Each record's plan, written `cpu/xla`, as a category in the order of `plan_order`."""
    names = records["device"].astype(str) + "/" + records["mode"].astype(str)
    return names.astype(pd.CategoricalDtype(sorted(names.unique(), key=plan_order)))


def by_verdict(records: pd.DataFrame) -> pd.Series:
    """How many records have each verdict, the verdicts that none has included; the worst first."""
    return records["verdict"].astype(str).value_counts().reindex(SEVERITY, fill_value=0).rename("records")


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as plain data."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def row(records: pd.DataFrame, index: int) -> dict[str, Any]:
    """One record as plain data."""
    return {str(name): value for name, value in records.loc[index].items()}


def counts(records: pd.DataFrame) -> dict[str, int]:
    """`by_verdict` as a dict."""
    return {str(verdict): int(n) for verdict, n in by_verdict(records).items()}


def by_kind(records: pd.DataFrame) -> pd.DataFrame:
    """How many records of each kind (rows) have each verdict (columns); matches are left out."""
    some = records[records["kind"].astype(str) != ""]
    table = pd.crosstab(some["kind"].astype(str), some["verdict"].astype(str))
    kinds = [kind for kind in KINDS if kind in table.index]
    return table.reindex(index=kinds, columns=[v for v in SEVERITY if v in table.columns]).rename_axis("kind")


def cells(records: pd.DataFrame, by: list[str] | None = None) -> pd.DataFrame:
    """One row for each of `by` (suite and spec unless told) × plan: `worst` verdict, `records`, a count by verdict."""
    by = by or ["suite", "spec"]
    keys = records[by].astype(str).assign(plan=plans(records).astype(str), verdict=records["verdict"].astype(str))
    table = keys.groupby([*by, "plan", "verdict"]).size().unstack("verdict", fill_value=0)
    table = table.reindex(columns=list(SEVERITY), fill_value=0).rename_axis(columns=None)
    worst = np.asarray(SEVERITY)[(table.to_numpy() > 0).argmax(axis=1)] if len(table) else []
    table.insert(0, "worst", worst)
    table.insert(1, "records", table[list(VERDICTS)].sum(axis=1))
    return table.reset_index()


def matrix(records: pd.DataFrame, by: list[str] | None = None) -> pd.DataFrame:
    """The worst verdict of each of `by` (suite and spec unless told) under each plan; empty where nothing ran."""
    by = by or ["suite", "spec"]
    table = cells(records, by).pivot(index=by, columns="plan", values="worst").fillna("")
    return table[sorted(table.columns, key=plan_order)]


def slowest(records: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The runs that took longest: case, device, mode, seconds."""
    runs = records.drop_duplicates(["case", "device", "mode"]).dropna(subset="seconds")
    return runs.nlargest(n, "seconds")[["case", "device", "mode", "seconds"]].reset_index(drop=True)


def worst_margins(records: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The matches that come nearest to their budget: `used` is the largest `max_ulp` / `budget`, at most 1.

    One row for each spec, dtype, quantity and plan. Budgets of 0 leave no margin and are left out.
    """
    some = records[(records["verdict"] == "match") & (records["budget"] > 0) & records["max_ulp"].notna()]
    some = some.assign(used=some["max_ulp"] / some["budget"]).sort_values("used", ascending=False, kind="stable")
    best = some.drop_duplicates(["spec", "dtype", "quantity", "device", "mode"]).head(n)
    names = ["spec", "dtype", "quantity", "device", "mode", "against", "used", "max_ulp", "budget", "case"]
    return best[names].reset_index(drop=True)


def findings(records: pd.DataFrame) -> pd.DataFrame:
    """What is not as promised, gathered: one row for each spec × verdict × kind, the failing ones first.

    `records` counts, `plans` and `quantities` list where; `first` is the index in `records` of the one that stands for
    the rest: against NumPy where there is one, and with the largest distance.
    """
    some = records[records["verdict"].isin([*FAILING, "known"])]
    some = some.assign(plan=plans(some).astype(str), index=some.index, other=some["against"].astype(str) != "numpy")
    some = some.sort_values(["other", "max_ulp"], ascending=[True, False], na_position="last")
    keys = ["suite", "spec", "verdict", "kind"]
    some[[*keys, "quantity"]] = some[[*keys, "quantity"]].astype(str)
    grouped = some.groupby(keys, sort=False)
    table = grouped.agg(
        records=("index", "size"),
        plans=("plan", lambda names: " ".join(sorted(set(names), key=plan_order))),
        quantities=("quantity", lambda names: " ".join(sorted(set(names)))),
        first=("index", "first"),
    ).reset_index()
    table["verdict"] = by_severity(table["verdict"])
    order = ["verdict", "records", "suite", "spec", "kind"]
    return table.sort_values(order, ascending=[True, False, True, True, True]).reset_index(drop=True)


def not_run(info: RunInfo) -> pd.DataFrame:
    """The planned cells without a result, and why: case, device, mode, why."""
    return pd.DataFrame(info.not_run, columns=["case", "device", "mode", "why"]).fillna("").astype("str")
