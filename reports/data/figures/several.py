"""Several: records that differ by several kinds, or for several causes, once for each kind or cause."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from tf_opdiff.harness.judge.known_failures.cause import Cause

_OF_CAUSE = ("owner", "reason", "link", "severity")


def every_kind(records: pd.DataFrame) -> pd.Series:
    """All kinds of each record, joined by `;`; the shown one in records of an earlier version."""
    kinds = records["kinds"].astype("str")
    return kinds.where(kinds != "", records["kind"].astype("str"))


def by_each_kind(records: pd.DataFrame) -> pd.DataFrame:
    """The records, each once for every kind by which it differs, in `kind`; records without a difference once."""
    return records.assign(kind=every_kind(records).str.split(";")).explode("kind").astype({"kind": "str"})


def by_each_cause(records: pd.DataFrame, causes: Mapping[str, Cause] | None = None) -> pd.DataFrame:
    """The records, each once for every cause that its `cause` names; those without a cause once.

    A record shows the kind that its first cause explains. In the rows of its other causes, `kind` is another of its
    kinds, and `owner`, `reason`, `link` and `severity` are those of the cause: as `causes` has them, or else as the
    records have them whose first cause it is; empty where there is no such record.
    """
    names = records["cause"].astype("str")
    several = names.str.contains(";", regex=False)
    if not several.any():
        return records
    shown = records["kind"].astype("str")
    others = [
        next((one for one in kinds.split(";") if one != kind), kind)
        for kinds, kind in zip(every_kind(records)[several], shown[several], strict=True)
    ]
    texts = {name: records[name].astype("str") for name in _OF_CAUSE}
    rows = records.assign(cause=names.str.split(";"), kind=shown, **texts, other=shown, later=False)
    rows.loc[several, "other"] = others
    rows["later"] = [list(range(len(each))) for each in rows["cause"]]
    rows = rows.explode(["cause", "later"])
    first = rows[rows["later"] == 0].drop_duplicates("cause").set_index("cause")
    later = (rows["later"] > 0).to_numpy()
    for name in _OF_CAUSE:
        written = {cause: getattr(one, name) for cause, one in (causes or {}).items()}
        of_cause = first[name].to_dict() | written
        rows[name] = rows[name].mask(later, rows["cause"].map(of_cause).fillna("")).astype("str")
    rows["kind"] = rows["kind"].mask(later, rows["other"])
    return rows.astype({"cause": "str"}).drop(columns=["other", "later"])
