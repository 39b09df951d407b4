"""Ledger: the entries of known failures, held against the records of a run: what each covers, and which are spent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.known import CELL, Known
from tf_opdiff.harness.judge.known_failures.known_files import KnownError
from tf_opdiff.harness.judge.known_failures.selectors import Names, listed
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.run_directories.judges import JudgedBy
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.known_failures.judged import PLACE, distinct, judged, places
from tf_opdiff.reports.analysis.known_failures.known_text import Change, changes
from tf_opdiff.reports.data.figures import tables

STATES = ("holds", "narrow", "stale", "idle", "not run")
#: What is said of an entry, by its state.
SAYS = {
    "narrow": "{stale} records no longer fail, {records} still do: narrow it by hand",
    "stale": "none of its {stale} records fails any more",
    "idle": "its cases ran, but it is about no comparison of theirs",
}
_ENTRY = ("spec", "kind", "tf")
_CAUSE = ("owner", "reason", "link", "source", "measured", "see")


def entries(records: pd.DataFrame, known: Known, path: Path | None = None) -> pd.DataFrame:
    """Every entry and what it is about in a run, in the order of the files; one with several kinds once for each.

    Columns: `file` and `entry`, its number in its cause there, from 1; `spec`, `kind`, `tf`; `cause` (its id), `owner`,
    `reason`, `link`, `source`, `measured`, `see` (ids of related causes); `records`, `cases` and `plans` that it makes
    known; `stale`, how many records it is about that no longer fail; `state`: `holds`, `narrow` (some still fail),
    `stale`, `idle` (about cases that ran, but no comparison of theirs) or `not run`; `commit` and `since` (UTC), of the
    last change to what it selects, where `path`, its file or folder, is in a git checkout, else empty.
    """
    named = {spec for entry in known.entries for spec in known.specs_of(entry)}
    records = records[records["spec"].isin(named)]  # no entry is about another one
    new = judged(records, known)
    plans = tables.plans(records).astype(str)
    verdicts = new.assign(case=records["case"].astype(str), plan=plans)
    holds = verdicts["verdict"].isin(["known", "stale"]) & (verdicts["entries"].str.len() > 0)
    covered = verdicts[holds].explode("entries").groupby("entries")
    many = covered.agg(
        records=("case", "size"),
        cases=("case", "nunique"),
        plans=("plan", lambda names: " ".join(sorted(set(names), key=tables.plan_order))),
    )
    stale = verdicts[verdicts["verdict"] == "stale"].explode("spent").groupby("spent").size()
    table = _written(known).join(many).fillna({"records": 0, "cases": 0, "plans": ""})
    table = table.astype({"records": int, "cases": int})
    table["stale"] = stale.reindex(table.index, fill_value=0)
    idle = _idle(records, known, table.index[(table["records"] == 0) & (table["stale"] == 0)])
    holding = np.where(table["stale"] > 0, "narrow", "holds")
    gone = np.where(table["stale"] > 0, "stale", np.where(table.index.isin(idle), "idle", "not run"))
    table["state"] = np.where(table["records"] > 0, holding, gone)
    latest = _changes(known, path)
    table["commit"] = pd.Series([one.commit for one in latest], index=table.index, dtype="str")
    table["since"] = pd.Series([one.time for one in latest], index=table.index, dtype="str")
    return table.reset_index(drop=True)


def of_run(
    records: pd.DataFrame, info: RunInfo, judged_by: JudgedBy | None, known: Known | None = None
) -> pd.DataFrame:
    """`entries` of the files that a run was judged by, as they are now; none where those can't be read, or were others.

    What the run says of its suites and its known failures is compared, and never imported or opened. `known` is the
    content of the files, if it is read already.
    """
    nothing = pd.DataFrame(columns=["state"])
    if not judged_by or not info.known or judged_by.other(info) or not len(records):
        return nothing
    path = ROOT / judged_by.known
    try:
        known = known or known_files.load(path, Catalog.load(judged_by.suites))
        known = known.on(info.devices)
    except (KnownError, LookupError, ImportError, OSError, ValueError):
        return nothing
    return entries(records, known, path)


def _written(known: Known) -> pd.DataFrame:
    """What the files say of each entry, by its number among all, from 1."""
    rows: list[dict[str, Any]] = []
    for number, entry in enumerate(known.entries, 1):
        place, cause = known.stands(number), entry.cause
        own = {name: _joined(getattr(entry, name)) for name in _ENTRY}
        explained = {name: getattr(cause, name) for name in _CAUSE} | {"see": " ".join(cause.see)}
        rows.append({"file": place.file, "entry": place.number, **own, "cause": cause.id, **explained})
    columns = ["file", "entry", *_ENTRY, "cause", *_CAUSE]
    return pd.DataFrame(rows, columns=columns, index=range(1, len(rows) + 1))


def _joined(value: Names) -> str:
    return ", ".join(listed(value))


def _changes(known: Known, path: Path | None) -> list[Change]:
    """The last change to each entry, in order; empty ones where they are not known."""
    try:
        by_file = {name: changes(file) for name, file in known_files.files(path).items()} if path else {}
    except KnownError:
        by_file = {}
    stands = [known.stands(number) for number in range(1, len(known.entries) + 1)]
    present: dict[str, set[tuple[str, int]]] = {}
    for place in stands:
        present.setdefault(place.file, set()).add((place.cause, place.number))
    whole = {name for name, latest in by_file.items() if latest.keys() == present.get(name)}
    return [by_file[at.file][at.cause, at.number] if at.file in whole else Change() for at in stands]


def _without(place: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in place.items() if name not in names}


def _idle(records: pd.DataFrame, known: Known, numbers: Collection[int]) -> set[int]:
    """Those of the entries with these numbers, from 1, that `Known.idle` names."""
    entries = {number: known.entries[number - 1] for number in numbers}
    some = places(records[records["spec"].isin({spec for entry in entries.values() for spec in known.specs_of(entry)})])
    by_spec: dict[str, tuple[list[tuple[Any, ...]], ...]] = {}
    for i, names in enumerate(((*CELL, "against"), PLACE)):
        for at in distinct(some, (*names, "tf"))[1]:
            of = at.pop("tf"), *known.facts(at["device"])
            by_spec.setdefault(at["spec"], ([], []))[i].append((at, *of))
    idle = set()
    for number, entry in entries.items():
        near = [by_spec[spec] for spec in known.specs_of(entry) if spec in by_spec]
        everywhere = ("spec",) if entry.against == "plan" else ("spec", "against")
        ran = any(entry.selects(_without(at, everywhere), *of) for cells, _ in near for at, *of in cells)
        about = any(entry.selects(_without(at, ("spec",)), *of) for _, comparisons in near for at, *of in comparisons)
        idle.update([number] if ran and not about else [])
    return idle
