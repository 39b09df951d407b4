"""Noise: how much the distance of each record varies between runs alike, and the records that left that range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.reports.analysis.histories.nights import Nights
from tf_opdiff.reports.analysis.histories.stored_run import KEY
from tf_opdiff.reports.data.figures import tables

#: The fewest earlier runs alike from which the noise of a record is taken.
LEAST = 3
#: Files of earlier runs hold distances in float32: a smaller share of a distance is rounding.
ROUNDING = float(np.finfo(np.float32).eps)


def noise(nights: Nights, like: Mapping[str, Any]) -> pd.DataFrame:
    """The range of the distance of each record over the runs that are like one run, without that run itself.

    Runs are alike if they had the same TensorFlow, and the device of the record was the same, with the same flags.

    The index is `reports.analysis.histories.stored_run.KEY`. Columns: `low` and `high`, the smallest and the largest
    `max_ulp`, in ULPs; `runs`, how many runs alike have a distance, at least `LEAST`.

    Args:
      nights: the runs.
      like: the fields `run`, `tf` and `environment` of the one run; see
        `reports.analysis.histories.stored_run.RunFacts`.
    """
    parts = [_range(nights, device, runs) for device, runs in _alike(nights.runs, like)]
    table = pd.concat(parts) if parts else _range(nights, "", [])
    return table[table["runs"] >= LEAST]


def beyond(distance: pd.Series, low: pd.Series, high: pd.Series) -> pd.Series:
    """Whether each distance, in ULPs, lies outside its range by more than the width of that range.

    Where all earlier runs gave one distance, every other distance lies outside.
    """
    with np.errstate(invalid="ignore"):  # an infinite range
        width = (high - low).fillna(0.0) + ROUNDING * high.abs()
        return (distance > high + width) | (distance < low - width)


def drifted(nights: Nights) -> pd.DataFrame:
    """The newest records whose distance is outside the range of comparable earlier runs; the largest ratio comes first.

    Columns: `reports.analysis.histories.stored_run.KEY`; `verdict`; `low`, `high` and `runs` as in `noise`; `max_ulp`,
      the
    distance in the newest run; `ratio` of the larger to the smaller of `max_ulp` and the nearest end of the range.
    """
    newest = nights.records[nights.records["run"] == 0].set_index(list(KEY))[["verdict", "max_ulp"]]
    table = newest.join(noise(nights, tables.row(nights.runs, 0)), how="inner").dropna(subset=["max_ulp"])
    table = table[beyond(table["max_ulp"], table["low"], table["high"])]
    near = table["high"].where(table["max_ulp"] > table["high"], table["low"])
    both = pd.DataFrame({"now": table["max_ulp"].astype("float64"), "near": near})
    with np.errstate(divide="ignore", invalid="ignore"):
        table = table.assign(ratio=(both.max(axis=1) / both.min(axis=1)).fillna(1.0))
    return table.sort_values("ratio", ascending=False, kind="stable").reset_index()


def _alike(runs: pd.DataFrame, like: Mapping[str, Any]) -> Iterator[tuple[str, list[int]]]:
    """The positions of the other runs that are like a run, for each of its devices."""
    others = runs[(runs["tf"] == like["tf"]) & (runs["run"] != like["run"])]
    for device, text in like["environment"].items():
        yield device, [i for i, other in others["environment"].items() if other.get(device) == text]


def _range(nights: Nights, device: str, runs: list[int]) -> pd.DataFrame:
    """The range of the distances of a device's records over these runs."""
    records = nights.records
    some = records[records["run"].isin(runs) & (records["device"].astype(str) == device) & records["max_ulp"].notna()]
    grouped = some.groupby(list(KEY), observed=True)
    table = grouped.agg(low=("max_ulp", "min"), high=("max_ulp", "max"), runs=("max_ulp", "size"))
    return table.astype({"low": "float64", "high": "float64"})
