"""Causes: changes grouped, so that one cause is one row."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data.plans import joined

GATHERED = ("new", "changed", "fixed", "drifted")
COLUMNS = (
    *("change", "worse", "was", "now", "kind", "plans", "specs", "records", "cases", "quantities", "dtypes"),
    *("numbers", "inputs_changed", "example", "reason"),
)
#: The columns in which the records of one cause agree, besides their plans.
_SHARED = ("change", "worse", "was", "now", "kind", "reason")
#: The columns that sort records, so that the first one can represent the rest; whether in ascending order.
_FIRST = {"other": True, "simple": True, "off": False}
#: The columns of a cause that list the values of a column of its records.
_LISTS = {"quantities": "quantity", "dtypes": "dtype", "numbers": "numbers"}


def causes(changes: pd.DataFrame) -> pd.DataFrame:
    """The records that are new, changed, fixed or drifted, or that appeared and fail, grouped.

    One row for each combination of change, verdicts, kind and reason × the plans on which specs have it.

    Columns: `change`, `worse`; `was` and `now`, verdicts; `kind`, as `value`, `value → nan`, and for `drifted` records
    `farther` or `nearer`; `plans`; `specs`, a dict from names to numbers of records, most first; `records` and `cases`,
    counts; `quantities`, `dtypes`; `numbers`: whether TensorFlow's own numbers are the `same` or `differ` (see
    `reports.analysis.comparisons.bits`), both, or empty where that is not known; `inputs_changed`, a count; `example`,
    the index in `changes` of the record that represents the rest: one against NumPy where there is one, and the one
    with the simplest input, or that moved most; `reason`, that of the entry by which they are known. Worse ones come
    first, then those with more records.
    """
    failing = (changes["change"] == "appeared") & changes["worse"]
    some = changes[changes["change"].isin(GATHERED) | failing]
    if not len(some):
        return pd.DataFrame(columns=list(COLUMNS))
    by_spec = _by_spec(_described(some))
    by_spec["plans"] = by_spec["plan"].map(joined)
    keys = [*_SHARED, "plans"]
    groups = by_spec.groupby(keys, sort=False, observed=True)
    rows = [dict(zip(keys, key, strict=True)) | _cause(group) for key, group in groups]
    return _worst_first(pd.DataFrame(rows)[list(COLUMNS)])


def _described(some: pd.DataFrame) -> pd.DataFrame:
    """A row for each of these changes, with the columns that group and count it; the best examples first."""
    described = pd.DataFrame(
        {
            **{name: some[name] for name in ("change", "reason", "spec", "case", "quantity", "dtype", "plan")},
            "worse": some["worse"],
            "was": some["verdict_before"],
            "now": some["verdict"],
            "kind": _kinds(some),
            "numbers": some.get("numbers", ""),
            "inputs_changed": some["inputs_changed"],
            "example": some.index,
            "other": some["against"] != "numpy",
            "simple": some["simple"].where(some["change"] != "drifted", 0),
            "off": _distance(some),
        }
    )
    return _best_first(described)


def _best_first(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(list(_FIRST), ascending=list(_FIRST.values()), kind="stable")


def _by_spec(described: pd.DataFrame) -> pd.DataFrame:
    """One row for each spec and combination of `_SHARED`; plans, quantities, dtypes and numbers as sets."""
    keys = [*_SHARED, "spec"]
    table = described.groupby(keys, sort=False, observed=True).agg(
        records=("example", "size"),
        cases=("case", "nunique"),
        inputs_changed=("inputs_changed", "sum"),
        example=("example", "first"),
        **{name: (name, "first") for name in _FIRST},
    )
    for name in ("plan", "quantity", "dtype", "numbers"):
        distinct = described.drop_duplicates([*keys, name])
        table[name] = distinct.groupby(keys, sort=False, observed=True)[name].agg(frozenset)
    return table.reset_index()


def _cause(group: pd.DataFrame) -> dict[str, Any]:
    """The columns of a cause that sum up its specs; `group` has a row for each spec."""
    group = group.sort_values(["records", "spec"], ascending=[False, True])
    return (
        {"specs": dict(zip(group["spec"], group["records"].tolist(), strict=True))}
        | {name: int(group[name].sum()) for name in ("records", "cases", "inputs_changed")}
        | {name: " ".join(sorted(frozenset().union(*group[column]) - {""})) for name, column in _LISTS.items()}
        | {"example": _best_first(group).iloc[0]["example"]}
    )


def _worst_first(causes: pd.DataFrame) -> pd.DataFrame:
    """The causes by change, the worse ones first, then those with more records."""
    order = pd.DataFrame(
        {
            "change": causes["change"].astype("str").map([*GATHERED, "appeared"].index),
            "better": ~causes["worse"],
            "fewer": -causes["records"],
        }
    )
    order = order.sort_values(["change", "better", "fewer"], kind="stable")
    return causes.loc[order.index].reset_index(drop=True)


def _kinds(some: pd.DataFrame) -> pd.Series:
    """The shown kind, or that of each run where they differ; all kinds where other kinds differ.

    For drifted records the direction.
    """
    shown = [some[name].astype("str").to_numpy(object) for name in ("kind_before", "kind")]
    every = [some[name].astype("str").to_numpy(object) for name in ("kinds_before", "kinds")]
    hidden = (shown[0] == shown[1]) & (every[0] != every[1])
    was, now = (np.where(hidden, *one) for one in zip(every, shown, strict=True))
    position, pairs = pd.factorize(pd.Series(list(zip(was, now, strict=True)), dtype=object))
    both = [dict.fromkeys(filter(None, pair)) for pair in pairs]
    names = np.array([*(" → ".join(kinds) for kinds in both), "farther", "nearer"], dtype=object)
    direction = np.where(some["max_ulp"] > some["max_ulp_before"], len(both), len(both) + 1)
    kinds = names[np.where(some["change"] == "drifted", direction, position)]
    return pd.Series(kinds, some.index).astype("category")


def _distance(some: pd.DataFrame) -> np.ndarray:
    """How far a drifted record moved, as a share of its budget; how far off any other is, in ULPs; 0 if unknown."""
    share = some["max_ulp"] / some["budget"] - some["max_ulp_before"] / some["budget_before"]
    moved = np.abs(share.where(np.isfinite(share), some["max_ulp"] - some["max_ulp_before"]))
    distance = some["max_ulp"].where(some["change"] != "fixed", some["max_ulp_before"])
    return moved.where(some["change"] == "drifted", distance).fillna(0.0).to_numpy()


def counts(changes: pd.DataFrame) -> dict[str, int]:
    """How many records have each change."""
    by_name = Counter(changes["change"].astype(str).value_counts().to_dict())
    return {name: by_name[name] for name in changes["change"].cat.categories}


def example_records(
    changes: pd.DataFrame, index: Any, before: pd.DataFrame, after: pd.DataFrame
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The two records behind a change, as plain data; None where a run has no such record."""
    change = changes.loc[index]
    return _record(before, int(change["before"])), _record(after, int(change["after"]))


def _record(records: pd.DataFrame, position: int) -> dict[str, Any] | None:
    return tables.row(records, records.index[position]) if position >= 0 else None
