"""Hidden faults: the planted faults that known failures would hide, by cause."""

from __future__ import annotations

import pandas as pd

#: A place of known failures, as the table names it.
_PLACE = ["cause", "spec", "dtype", "device", "mode", "quantity"]


def hidden(records: pd.DataFrame) -> pd.DataFrame:
    """Planted faults that known failures would hide: one row for each cause, place and fault; see `unseen`.

    Columns: those of the place, `fault`, and the `case` in whose result the fault was planted.
    """
    if "unseen" not in records:
        return pd.DataFrame(columns=[*_PLACE, "fault", "case"], dtype="str")
    some = records[records["unseen"].astype(str) != ""]
    rows = some[[*_PLACE, "case"]].astype(str).assign(fault=some["unseen"].astype(str).str.split(";"))
    rows = rows.explode("fault").astype("str")
    return rows[[*_PLACE, "fault", "case"]].sort_values(_PLACE, kind="stable").reset_index(drop=True)
