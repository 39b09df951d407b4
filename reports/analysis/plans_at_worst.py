"""Beside: what every plan gave at the element where one of them is off."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.compare import summary
from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.reports.data import frame, tables

#: How many cases × quantities are told of, those that fail first; a page has to stay small where everything fails.
MOST = 2000
_INDEX = re.compile(r"\[(\d{1,18}(, \d{1,18})*)?\]")

#: For each case and quantity, for each index (empty for the whole), what each plan gave: `{"cpu/xla": "-0.0"}`.
Beside = dict[str, dict[str, dict[str, dict[str, str]]]]


def values(records: pd.DataFrame, observations: pd.DataFrame) -> Beside:
    """What each plan gave where a record is off: the element of its example, or what came instead of a value.

    Args:
      records: those of a run; the ones that fail or are known are looked at, worst first.
      observations: those of the same run, as `reports.load_observations` gives them. A case without any, such as a
        sweep, is left out, and so is an element that a plan's array does not have.
    """
    off = records[records["verdict"].isin([*FAILING, "known"])]
    off = off.iloc[tables.by_severity(off["verdict"]).argsort(kind="stable")]
    wanted: dict[tuple[str, str], set[str]] = {}
    names = ["case", "quantity", "example_index", "worst_index"]
    for case, quantity, simplest, worst in off[names].astype("str").itertuples(index=False):
        key = (case, quantity)
        if key in wanted or len(wanted) < MOST:
            wanted.setdefault(key, set()).add(simplest or worst)
    some = observations[observations["case"].isin({case for case, _ in wanted})]
    found: Beside = {}
    for row in tables.rows(some):
        case, quantity = str(row["case"]), str(row["quantity"])
        for index in wanted.get((case, quantity), ()):
            text = _text(row, index)
            if text:
                at = found.setdefault(case, {}).setdefault(quantity, {}).setdefault(index, {})
                at[f"{row['device']}/{row['mode']}"] = text
    return found


def _text(row: dict[str, Any], index: str) -> str:
    value = frame.array(row)
    if value is None or row["status"] != "value" or not _INDEX.fullmatch(index):
        return summary(Result(str(row["status"]), value, code=str(row["code"])))
    at = tuple(map(int, re.findall(r"\d+", index)))
    inside = len(at) == value.ndim and all(i < n for i, n in zip(at, value.shape, strict=True))
    return str(value[at]) if inside else ""
