"""Lacking: the kernels that a run found to be missing, and which of them a maturity list speaks of."""

from __future__ import annotations

import pandas as pd

from tf_opdiff.reports.data import tables

#: In the order in which they are shown: what is on no list comes before what is not to be there yet.
_LISTED = ("mandatory", "expected", "", "skip")


def lacking(records: pd.DataFrame) -> pd.DataFrame:
    """What could not run, for want of a kernel or of what a program needs: one row for each such thing and device.

    Columns: `missing`; `device`; `listed`: by which entry of a maturity list it is `mandatory`, `expected` (these come
    first) or `skip`, or nothing; `modes` and `specs` list where; `cases` and `records` count.
    """
    reason = records["reason"].astype(str)
    level = reason.map(lambda text: text.partition(", by entry ")[0] if ", by entry " in text else "")
    some = records[(records["verdict"].astype(str) == "unavailable") | (level == "mandatory")]
    missing = some["detail"].astype(str).map(lambda text: text.partition(":")[0].partition(", which is mandatory")[0])
    some = some.assign(missing=missing, level=level, listed=reason.where(level != "", ""))
    keys = ["missing", "device", "listed", "level"]
    some = some[[*keys, "spec", "mode", "case"]].astype("str")
    groups = some.groupby(keys)

    def joined(names: pd.Series) -> str:
        return " ".join(sorted(set(names), key=tables.mode_order))

    table = pd.DataFrame(
        {
            "modes": groups["mode"]
            .agg(lambda names: " ".join(sorted(set(names), key=tables.mode_order)))
            .astype("str"),
            "specs": groups["spec"].agg(lambda names: " ".join(sorted(set(names)))).astype("str"),
            "cases": groups["case"].nunique().astype("int64"),
            "records": groups.size().astype("int64"),
        }
    ).reset_index()
    table = table.sort_values(["level", "device", "missing"], key=_in_order, ignore_index=True)
    return table.drop(columns="level")


def expected(records: pd.DataFrame, most: int) -> list[str]:
    """A line for each kernel that a maturity list expects and that is lacking, for the first so many."""
    found = lacking(records[records["reason"].astype(str).str.startswith("expected, by entry ")])
    lines = [
        f"expected: {missing} ({many:,} records) on {device}, for {specs}"
        for missing, device, many, specs in zip(
            found["missing"], found["device"], found["records"], found["specs"], strict=True
        )
    ]
    more = f"expected: {len(lines) - most:,} more are lacking; python -m harness table lacking RUN has them"
    return lines[:most] + ([more] if len(lines) > most else [])


def _in_order(column: pd.Series) -> pd.Series:
    return column.map(_LISTED.index) if column.name == "level" else column
