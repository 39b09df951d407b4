"""Discrepancy marks: whether plans disagree at a record, and whether the previous run had it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from tf_opdiff.harness.store.records.record import CLAIM
from tf_opdiff.reports.text.verdicts import FAILING_OR_KNOWN

#: The columns that identify a record in every run.
PLACE = ["case", "device", "mode", "quantity", "against"]


def oracle(some: pd.DataFrame) -> pd.Series:
    """The sort of oracle of each record: `numpy`, a claim, `plan` (another plan), or `itself`."""
    against = some["against"].astype("str")
    own = some["device"].astype("str") + "/" + some["mode"].astype("str")
    other = against.str.contains("/") & ~against.str.startswith(CLAIM)
    return against.mask(other, "plan").mask(against == own, "itself")


def passes_elsewhere(some: pd.DataFrame, records: pd.DataFrame) -> pd.Series:
    """Whether another plan passes where a record fails: for the same case, quantity and sort of oracle."""
    right = records[records["verdict"].isin(("match", "contract")) & records["case"].isin(some["case"].unique())]
    right = right.assign(oracle=oracle(right))
    names = ["case", "quantity", "oracle"]
    return _keys(some, names).isin(set(_keys(right, names)))


def seen_before(some: pd.DataFrame, before: pd.DataFrame) -> pd.Series:
    """Whether the previous run had the record's cause, or had a failing or known record in its place."""
    old = before[before["verdict"].isin(FAILING_OR_KNOWN)]
    seen = _keys(some, PLACE).isin(set(_keys(old, PLACE)))
    for name in ("cause", "reason"):
        texts = set(old[name].astype("str"))
        explained = {text for joined in texts for text in (joined.split(";") if name == "cause" else [joined])} - {""}
        seen |= some[name].isin(explained) & (some["verdict"] == "known")
    return seen


def _keys(frame: pd.DataFrame, names: Sequence[str]) -> pd.Series:
    """The texts of some columns of each row, as a tuple."""
    texts = (frame[name].astype("str").tolist() for name in names)
    return pd.Series(list(zip(*texts, strict=True)), index=frame.index, dtype=object)
