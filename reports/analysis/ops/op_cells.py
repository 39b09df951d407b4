"""Op cells: the worst verdict and the worst distance of each quantity of a spec under each plan."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tf_opdiff.harness.store.records.record import CLAIM
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.text.verdicts import SEVERITY, VERDICTS

#: A cell is about the records with the same values here.
KEYS = ("spec", "dtype", "attrs", "quantity", "plan")
_COLUMNS = ("spec", "dtype", "attrs", "quantity", "device", "mode", "verdict", "kind", "max_ulp", "budget")


@dataclass(frozen=True, kw_only=True)
class OpCell:
    """One quantity of a spec in a dtype under a plan.

    Attributes:
      verdict: the worst verdict.
      count: how many records have it.
      records: how many records there are.
      kind: the kind of a record with the worst verdict that differs; empty if none differs.
      max_ulp, budget: the distance that uses most of its budget, and that budget, in ULPs; NaN without distances.
    """

    verdict: str
    count: int
    records: int
    kind: str
    max_ulp: float
    budget: float

    @property
    def used(self) -> float:
        """The share of the budget that the distance uses; -1 without a distance."""
        return used(self.max_ulp, self.budget)

    @property
    def prominent(self) -> bool:
        """Whether a reader has to look at the records."""
        return VERDICTS[self.verdict].prominent


@dataclass(frozen=True, kw_only=True)
class OpRow:
    """One quantity of a spec in a dtype under every plan."""

    spec: str
    dtype: str
    attrs: str
    quantity: str
    cells: Mapping[str, OpCell] = field(default_factory=dict)


def used(max_ulp: float, budget: float) -> float:
    """The share of a budget that a distance uses: infinite beyond a budget of 0, -1 if one of the two is NaN."""
    if math.isnan(max_ulp) or math.isnan(budget):
        return -1.0
    if budget == 0:
        return math.inf if max_ulp > 0 else 0.0
    return max_ulp / budget


def op_rows(records: pd.DataFrame) -> dict[str, list[OpRow]]:
    """For each spec its rows, sorted by dtype, attributes and quantity, outputs before gradients.

    Comparisons with claims are left out: a claim may be wrong while TensorFlow is right. Distances beyond the budget
    are left out where a contract, or the bound of a sweep, allows them.
    """
    about_claims = records["against"].astype(str).str.startswith(CLAIM)
    some = records.loc[~about_claims, list(_COLUMNS)]
    rows: dict[tuple[str, ...], dict[str, OpCell]] = {}
    for *key, plan, verdict, count, number, kind, max_ulp, budget in _cells(some).itertuples(index=False):
        cell = OpCell(verdict=verdict, count=count, records=number, kind=kind, max_ulp=max_ulp, budget=budget)
        rows.setdefault(tuple(key), {})[plan] = cell
    by_spec: dict[str, list[OpRow]] = {}
    for (spec, dtype, attrs, quantity), cells in sorted(rows.items(), key=lambda item: _order(*item[0])):
        by_spec.setdefault(spec, []).append(OpRow(spec=spec, dtype=dtype, attrs=attrs, quantity=quantity, cells=cells))
    return by_spec


def _order(spec: str, dtype: str, attrs: str, quantity: str) -> tuple[object, ...]:
    return spec, dtype, attrs, quantity_order(quantity)


def quantity_order(name: str) -> tuple[bool, str, int, str]:
    """The key that sorts quantities: outputs first, each family by number. The name may be any text."""
    family, _, number = name.partition("[")
    digits = number.removesuffix("]")
    return family != "output", family, int(digits) if re.fullmatch(r"\d{1,9}", digits, re.ASCII) else 0, name


def _cells(records: pd.DataFrame) -> pd.DataFrame:
    """One row for each cell: `KEYS`, verdict, count, number of records, kind, max_ulp and budget."""
    some = records.assign(plan=tables.plans(records), rank=tables.by_severity(records["verdict"]).cat.codes)
    group = some.groupby(list(KEYS), observed=True, sort=False).ngroup().to_numpy()
    number = np.bincount(group)
    rank = some["rank"].to_numpy()
    worst = np.full(len(number), len(SEVERITY))
    np.minimum.at(worst, group, rank)
    is_worst = rank == worst[group]
    ulp, budget = some["max_ulp"].to_numpy(), some["budget"].to_numpy()
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        share = np.where(budget == 0, np.where(ulp > 0, np.inf, 0.0), ulp / budget)
    allowed = (ulp > budget) & some["verdict"].isin(["match", "contract"]).to_numpy()
    did_not_run = some["verdict"].isin(["unavailable"]).to_numpy()
    share = np.where(np.isnan(share) | allowed | did_not_run, -1.0, share)
    farthest = _first(group, -share)
    differs = is_worst & (some["kind"].astype(str) != "").to_numpy()
    example = _first(group, np.where(differs, 0, 1))
    table = some.iloc[farthest][list(KEYS)].astype("str")
    measured = share[farthest] >= 0
    return table.assign(
        verdict=np.asarray(SEVERITY)[worst],
        count=np.bincount(group, weights=is_worst).astype(int),
        number=number,
        kind=np.where(differs[example], some["kind"].astype(str).to_numpy()[example], ""),
        max_ulp=np.where(measured, ulp[farthest], np.nan),
        budget=np.where(measured, budget[farthest], np.nan),
    )


def _first(group: np.ndarray, key: np.ndarray) -> np.ndarray:
    """For each group the position of the row with the smallest key."""
    order = np.lexsort([key, group])
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0]) if len(order) else np.zeros(0, int)
    return order[starts]


def worse(one: OpCell, other: OpCell) -> OpCell:
    """Two cells as one: the worse verdict, and the distance that uses more of its budget."""
    rank = SEVERITY.index(one.verdict) - SEVERITY.index(other.verdict)
    worse, far = one if rank <= 0 else other, one if one.used >= other.used else other
    return OpCell(
        verdict=worse.verdict,
        count=worse.count if rank else one.count + other.count,
        records=one.records + other.records,
        kind=worse.kind,
        max_ulp=far.max_ulp if far.used >= 0 else math.nan,
        budget=far.budget,
    )
