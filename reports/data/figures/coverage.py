"""Coverage: what a run really compared."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.quantity import FAMILIES, family_of
from tf_opdiff.reports.data.figures.counts import by_each_op


def coverage(records: pd.DataFrame) -> pd.DataFrame:
    """What really ran: one row for each OpDef × dtype × device × mode.

    Columns: `raw_op`, `dtype`, `device`, `mode`; `specs` and `cases` count; `gradient`: whether a gradient was
    compared; `quantities` lists the families of the compared quantities (`output grad jvp hvp`). `raw_op` is empty
    where no graph was seen, for example because the case promises an error. Records that are `unavailable`, or in which
    the suite itself is at fault, do not count: nothing ran.
    """
    ran = records[~records["verdict"].isin(["unavailable", "error"])]
    place = ["raw_op", "dtype", "device", "mode"]
    families = ran["quantity"].astype("category").map(family_of)
    cells = ran[[*place, "spec"]].assign(family=families).drop_duplicates().astype("str")
    cells = by_each_op(cells).drop_duplicates()
    table = cells.groupby(place).agg(specs=("spec", "nunique"))
    cases = ran[[*place, "case"]].drop_duplicates().groupby(place, observed=True).size().rename("cases").reset_index()
    table["cases"] = by_each_op(cases).astype(dict.fromkeys(place, "str")).groupby(place)["cases"].sum()
    compared = cells[[*place, "family"]].drop_duplicates().assign(compared=True)
    compared = compared.pivot(index=place, columns="family", values="compared")
    compared = compared.reindex(columns=list(FAMILIES)).notna()
    table["gradient"] = compared["grad"]
    table["quantities"] = [" ".join(np.asarray(FAMILIES)[line]) for line in compared.to_numpy()]
    table = table.astype({"gradient": "bool", "quantities": "str"}).reset_index()
    return table.sort_values(place, key=_modes_in_order, ignore_index=True)


def _modes_in_order(column: pd.Series) -> pd.Series:
    return column.map({mode: i for i, mode in enumerate(MODES)}) if column.name == "mode" else column
