"""Causes: changes gathered, so that one cause reads as one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.harness.store.record import CLAIM, FAILING
from tf_opdiff.reports.data import tables

GATHERED = ("new", "changed", "fixed", "drifted")
COLUMNS = (
    *("change", "worse", "was", "now", "kind", "plans", "specs", "records", "cases", "quantities", "dtypes"),
    *("numbers", "inputs_changed", "example", "reason"),
)


def causes(changes: pd.DataFrame) -> pd.DataFrame:
    """What is new, changed, fixed or drifted, or appeared and fails.

    A row for each way of it × the plans on which specs do it.
    Columns: `change`, `worse`; `was` and `now`, verdicts; `kind`, as `value`, `value → nan`, and for what drifted
    `farther` or `nearer`; `plans`; `specs`, a dict from names to numbers of records, most first; `records` and `cases`,
    counts; `quantities`, `dtypes`; `numbers`, what `reports.bits` says of TensorFlow's own numbers (`same`, `differ`,
    both, or empty where that is not known); `inputs_changed`, a count; `example`, the index in `changes` of the record
    that stands for the rest: against NumPy where there is one, and the one with the simplest input, or that moved most;
    `reason`, that of the entry by which they are known. Worse ones first, then by how many records there are.
    """
    failing = (changes["change"] == "appeared") & changes["worse"]
    some = changes[changes["change"].isin(GATHERED) | failing]
    if not len(some):
        return pd.DataFrame(columns=list(COLUMNS))
    by_spec = _gathered(_described(some), [*_WAY, "spec"])
    by_spec["plans"] = by_spec["plan"].map(_plans)
    keys = [*_WAY, "plans"]
    groups = by_spec.groupby(keys, sort=False, observed=True)
    rows = [dict(zip(keys, key, strict=True)) | _cause(group) for key, group in groups]
    return _worst_first(pd.DataFrame(rows)[list(COLUMNS)])


#: What the records of one cause have in common, besides their plans.
_WAY = ("change", "worse", "was", "now", "kind", "reason")
#: What sorts records, to find the one that stands for the rest; whether upwards.
_FIRST = {"other": True, "simple": True, "off": False}
_LISTED = {"quantities": "quantity", "dtypes": "dtype", "numbers": "numbers"}


def _described(some: pd.DataFrame) -> pd.DataFrame:
    """A row for each of these changes: what it is gathered by, and what it counts; the best examples first."""
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
            "off": _off(some),
        }
    )
    return _best_first(described)


def _best_first(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(list(_FIRST), ascending=list(_FIRST.values()), kind="stable")


def _cause(group: pd.DataFrame) -> dict[str, Any]:
    """The columns of a cause that its specs add up to; `group` has a row for each of them."""
    group = group.sort_values(["records", "spec"], ascending=[False, True])
    return (
        {"specs": dict(zip(group["spec"], group["records"].tolist(), strict=True))}
        | {name: int(group[name].sum()) for name in ("records", "cases", "inputs_changed")}
        | {name: _union(group[column]) for name, column in _LISTED.items()}
        | {"example": _best_first(group).iloc[0]["example"]}
    )


def _worst_first(causes: pd.DataFrame) -> pd.DataFrame:
    """The causes by change, the worse ones first, then by how many records they have."""
    order = pd.DataFrame(
        {
            "c": causes["change"].astype("str").map([*GATHERED, "appeared"].index),
            "w": ~causes["worse"],
            "n": -causes["records"],
        }
    )
    return causes.loc[order.sort_values(["c", "w", "n"], kind="stable").index].reset_index(drop=True)


def _gathered(told: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    grouped = told.groupby(keys, sort=False, observed=True)
    made = grouped.agg(
        records=("example", "size"),
        cases=("case", "nunique"),
        inputs_changed=("inputs_changed", "sum"),
        example=("example", "first"),
        **{name: (name, "first") for name in _FIRST},
    )
    for name in ("plan", "quantity", "dtype", "numbers"):
        sets = told.drop_duplicates([*keys, name]).groupby(keys, sort=False, observed=True)[name].agg(frozenset)
        made[name] = sets
    return made.reset_index()


def _kinds(some: pd.DataFrame) -> pd.Series:
    """The kind, or both where they differ; of what drifted, in which direction."""
    was, now = some["kind_before"].cat, some["kind"].cat
    many = len(now.categories)
    pairs, at = np.unique(was.codes.to_numpy().astype(np.int64) * many + now.codes, return_inverse=True)
    both = [dict.fromkeys(filter(None, (was.categories[p // many], now.categories[p % many]))) for p in pairs]
    names = np.array([*(" → ".join(two) for two in both), "farther", "nearer"], dtype=object)
    direction = np.where(some["max_ulp"] > some["max_ulp_before"], len(both), len(both) + 1)
    return pd.Series(names[np.where(some["change"] == "drifted", direction, at)], some.index).astype("category")


def _off(some: pd.DataFrame) -> np.ndarray:
    """How far a record moved in shares of its budget, or how far off it is in ULPs; 0 where that is not known."""
    used = some["max_ulp"] / some["budget"] - some["max_ulp_before"] / some["budget_before"]
    moved = np.abs(used.where(np.isfinite(used), some["max_ulp"] - some["max_ulp_before"]))
    distance = some["max_ulp"].where(some["change"] != "fixed", some["max_ulp_before"])
    return moved.where(some["change"] == "drifted", distance).fillna(0.0).to_numpy()


def _plans(names: frozenset[str]) -> str:
    return " ".join(sorted(names, key=tables.plan_order))


def _union(sets: pd.Series, key: Callable[[str], Any] = str) -> str:
    return " ".join(sorted(frozenset().union(*sets) - {""}, key=key))


def alone(changes: pd.DataFrame, change: str) -> pd.DataFrame:
    """What only one run has: `appeared` or `disappeared`, in as few rows as it takes.

    Columns: `level`, the first that explains it: `plan` (the other run has nothing under it), `spec`, `cases` (of specs
    that both have), `runs` (of cases that both have, under plans on which the other run has others), `comparisons` (of
    runs that both have); `name`, the device, or of what comparisons they are; `specs`, a dict from names to numbers of
    records, most first; `cases` and `records`, counts; `failing`, how many of the records fail; `lost`, how many were
    planned and have no result; `plans`.
    """
    changes = changes.reset_index(drop=True)
    some = changes[changes["change"] == change]
    there = (changes["before" if change == "appeared" else "after"] >= 0).to_numpy()
    codes = {name: changes[name].cat.codes.to_numpy().astype(np.int64) for name in ("plan", "spec", "case")}
    codes["cell"] = pd.factorize(codes["case"] * (codes["plan"].max(initial=0) + 1) + codes["plan"])[0]
    unknown = [(np.bincount(c, there) == 0)[c[some.index]] for c in codes.values()] if len(changes) else []
    level = np.select(unknown, ["plan", "spec", "cases", "runs"], "comparisons") if unknown else np.array([], str)
    plan, spec, case = (some[name].astype("str") for name in ("plan", "spec", "case"))
    name = np.select([level == "plan", level == "comparisons"], [some["device"].astype(str), _against(some, plan)], "")
    told = pd.DataFrame({"level": level, "name": name, "plan": plan, "spec": spec, "case": case, "lost": some["lost"]})
    told["fails"] = some["verdict_before" if change == "disappeared" else "verdict"].isin(FAILING)
    by_spec = told.groupby(["level", "name", "spec"], sort=False)
    counted = by_spec.agg(
        cases=("case", "nunique"), records=("case", "size"), failing=("fails", "sum"), lost=("lost", "sum")
    )
    counted["plans"] = (
        told.drop_duplicates(["level", "name", "spec", "plan"])
        .groupby(["level", "name", "spec"], sort=False)["plan"]
        .agg(frozenset)
    )
    counted = counted.reset_index()
    whole = counted["level"].isin(["plan", "comparisons"])
    counted["by"] = counted["plans"].map(_plans).mask(whole, "")
    rows: list[dict[str, Any]] = []
    for (at, of, _), group in counted.groupby(["level", "name", "by"], sort=False):
        group = group.sort_values(["records", "spec"], ascending=[False, True])
        rows.append(
            {"level": at, "name": of, "specs": dict(zip(group["spec"], group["records"].tolist(), strict=True))}
            | {column: int(group[column].sum()) for column in ("cases", "records", "failing", "lost")}
            | {"plans": _union(group["plans"], key=tables.plan_order)}
        )
    rows.sort(key=lambda row: (_LEVELS.index(row["level"]), -row["records"]))
    return pd.DataFrame(rows, columns=["level", "name", "specs", "cases", "records", "failing", "lost", "plans"])


_LEVELS = ("plan", "spec", "cases", "runs", "comparisons")


def _against(some: pd.DataFrame, plan: pd.Series) -> np.ndarray:
    against = some["against"].astype(str)
    return np.select(
        [against == "numpy", against.str.startswith(CLAIM), against == plan],
        ["with NumPy", "with claims", "with themselves, run again"],
        "with other plans",
    )


def claims(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """The claims on which the verdict changed: `claim`, `was`, `now` (empty where a run says nothing), `plans`.

    `before` and `after` are what `reports.analysis.claim_verdicts.verdicts` gives.
    """
    keys = ["claim", "device", "mode"]
    both = before[[*keys, "verdict"]].merge(after[[*keys, "verdict"]], "outer", on=keys, suffixes=("_before", ""))
    both = both.fillna("")
    both = both[both["verdict"] != both["verdict_before"]]
    both["plan"] = both["device"].astype(str) + "/" + both["mode"].astype(str)
    made = [
        {"claim": c, "was": was, "now": now, "plans": _plans(frozenset(group["plan"]))}
        for (c, was, now), group in both.groupby(["claim", "verdict_before", "verdict"])
    ]
    return pd.DataFrame(made, columns=["claim", "was", "now", "plans"])


def counts(changes: pd.DataFrame) -> dict[str, int]:
    """How many records there are of each change."""
    found = Counter(changes["change"].astype(str).value_counts().to_dict())
    return {name: found[name] for name in changes["change"].cat.categories}


def example(changes: pd.DataFrame, index: Any, before: pd.DataFrame, after: pd.DataFrame) -> tuple[Any, Any]:
    """The two records behind a change, as plain data; None where there is none."""
    at = changes.loc[index]
    was, now = int(at["before"]), int(at["after"])
    return _record(before, was), _record(after, now)


def _record(records: pd.DataFrame, position: int) -> dict[str, Any] | None:
    return tables.row(records, records.index[position]) if position >= 0 else None
