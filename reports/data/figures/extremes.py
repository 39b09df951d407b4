"""Extremes: the slowest runs of cases, and the matches nearest to their budget."""

from __future__ import annotations

import pandas as pd

from tf_opdiff.harness.spec.spec import SWEEPS
from tf_opdiff.harness.store.records.record import CLAIM

#: The share of a budget, in ULPs, that rounding once takes.
ROUNDING = 0.5


def slowest(records: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The runs that took longest: case, device, mode, seconds."""
    runs = records[["case", "device", "mode", "seconds"]].drop_duplicates(["case", "device", "mode"])
    longest = runs.dropna(subset="seconds").nlargest(n, "seconds").reset_index(drop=True)
    return longest.astype(dict.fromkeys(("case", "device", "mode"), "str"))


def worst_margins(records: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The matches that come nearest to their budget: `used` is the largest `max_ulp` / `budget`, at most 1.

    One row for each spec, dtype, quantity and plan. Three sorts of matches are left out. A budget of up to half an ULP,
    which rounding takes, leaves no margin. A claim that denies something holds where the budget is exceeded. A sweep
    that has a bound records its largest distance, which may be beyond the budget.
    """
    names = ["spec", "dtype", "quantity", "device", "mode", "against", "used", "max_ulp", "budget", "case"]
    matches = (records["verdict"] == "match") & (records["budget"] > ROUNDING) & records["max_ulp"].notna()
    some = records.loc[matches, [name for name in names if name != "used"] + ["recipe"]]
    some = some[~some["against"].astype(str).str.startswith(CLAIM)]
    some = some[~(some["recipe"].isin(SWEEPS) & (some["max_ulp"] > some["budget"]))]
    some = some.assign(used=some["max_ulp"] / some["budget"]).sort_values("used", ascending=False, kind="stable")
    best = some.drop_duplicates(["spec", "dtype", "quantity", "device", "mode"]).head(n)
    texts = [name for name in names if name not in ("used", "max_ulp", "budget")]
    return best[names].reset_index(drop=True).astype(dict.fromkeys(texts, "str"))
