"""Missing kernels: the kernels that a run did not find, and the entries of maturity lists about them."""

from __future__ import annotations

import pandas as pd

from tf_opdiff.reports.data.run_data.plans import mode_order

#: The levels of maturity lists in the order of the table; a kernel that no list names comes before one to `skip`.
_LEVELS = ("mandatory", "expected", "", "skip")


def lacking(records: pd.DataFrame) -> pd.DataFrame:
    """The missing kernels and other missing parts that kept cases from running: one row for each part and device.

    Columns: `missing`; `device`; `listed`: the entry of a maturity list that calls it `mandatory`, `expected` (these
    come first) or `skip`, or empty; `modes` and `specs` list where; `cases` and `records` count.
    """
    reason = records["reason"].astype(str)
    level = reason.map(lambda text: text.partition(", by entry ")[0] if ", by entry " in text else "")
    some = records[(records["verdict"].astype(str) == "unavailable") | (level == "mandatory")]
    missing = some["detail"].astype(str).map(lambda text: text.partition(":")[0].partition(", which is mandatory")[0])
    some = some.assign(missing=missing, level=level, listed=reason.where(level != "", ""))
    keys = ["missing", "device", "listed", "level"]
    some = some[[*keys, "spec", "mode", "case"]].astype("str")
    groups = some.groupby(keys)
    table = pd.DataFrame(
        {
            "modes": groups["mode"].agg(lambda modes: " ".join(sorted(set(modes), key=mode_order))).astype("str"),
            "specs": groups["spec"].agg(lambda specs: " ".join(sorted(set(specs)))).astype("str"),
            "cases": groups["case"].nunique().astype("int64"),
            "records": groups.size().astype("int64"),
        }
    ).reset_index()
    table = table.sort_values(["level", "device", "missing"], key=_in_order, ignore_index=True)
    return table.drop(columns="level")


def expected(records: pd.DataFrame, most: int) -> list[str]:
    """A line for each missing kernel that a maturity list expects, at most `most` of them; then how many are left."""
    table = lacking(records[records["reason"].astype(str).str.startswith("expected, by entry ")])
    columns = [table[name] for name in ("missing", "device", "records", "specs")]
    lines = [
        f"expected: {missing} ({count:,} records) on {device}, for {specs}"
        for missing, device, count, specs in zip(*columns, strict=True)
    ]
    more = f"expected: {len(lines) - most:,} more are missing; python -m harness table lacking RUN lists them"
    return lines[:most] + ([more] if len(lines) > most else [])


def _in_order(column: pd.Series) -> pd.Series:
    return column.map(_LEVELS.index) if column.name == "level" else column
