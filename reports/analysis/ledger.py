"""Ledger: the entries of known.toml, held against the records of a run: what each covers, and which are spent."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.harness.judge.known import CELL, Known, KnownError, listed, load
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.judges import JudgedBy
from tf_opdiff.harness.store.record import CLAIM
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.data import tables

PLACE = (*CELL, "quantity", "against")
STATES = ("holds", "narrow", "stale", "idle", "not run")
#: What is said of an entry, by its state.
TOLD = {
    "narrow": "{stale} records no longer fail, {records} still do: narrow it by hand",
    "stale": "none of its {stale} records fails any more",
    "idle": "its cases ran, but it is about no comparison of theirs",
}
#: Settings of git's that name no program.
_SAFE = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.pager=cat")
_HEAD = re.compile(r"\s*\[\[\s*known\s*\]\]\s*(#.*)?$")


def places(records: pd.DataFrame) -> pd.DataFrame:
    """Where each record stands, as entries select it, and under which `tf`: `harness.judge.known.place_of` for many."""
    told = records[[*CELL, "quantity", "tf"]].astype("str")
    against = records["against"].astype("str")
    other = np.where(against.str.startswith(CLAIM), "claim", "plan")
    itself = against == told["device"] + "/" + told["mode"]
    told["against"] = np.select([against == "numpy", itself], ["numpy", "itself"], other)
    return told


def version(records: pd.DataFrame) -> str:
    """The version of TensorFlow that the records are of.

    Raises:
      ValueError: there is none, or there are several.
    """
    found = sorted(set(records["tf"].astype(str)))
    if len(found) != 1:
        raise ValueError(f"records of TensorFlow {', '.join(found) or '(none)'}: expected those of one run")
    return found[0]


def code_of(records: pd.DataFrame) -> pd.Series:
    """The code of the error or crash that each record is about; empty where it is about a value."""
    got = records["got"].astype(str)
    code = got.str.extract(r"^(?:error|crash|hang) (\S+)$", expand=False).fillna("")
    return code.where(records["kind"].astype(str) != "error_code", got)


def found(there: pd.DataFrame, known: Known) -> np.ndarray:
    """The number of the entry that `Known.find` finds for each place, under its `tf`; 0 where there is none."""
    numbers = np.zeros(len(there), "int64")
    some = np.flatnonzero(there["spec"].isin({spec for entry in known.entries for spec in listed(entry.spec)}))
    codes, distinct = _distinct(there.iloc[some], (*PLACE, "tf"))
    entries = [known.find(place, place.pop("tf")) for place in distinct]
    numbers[some] = np.asarray([entry[0] if entry else 0 for entry in entries], dtype="int64")[codes]
    return numbers


def judged(records: pd.DataFrame, known: Known) -> pd.DataFrame:
    """What `harness.judge.verdict.decide` would make of the records with these entries: `verdict`, and `entry` (0:
    none)."""
    there, code = places(records), code_of(records)
    number = found(there, known)
    was, kind = records["verdict"].astype(str).to_numpy(), records["kind"].astype(str).to_numpy()
    split = records["against"].astype("str").str.rpartition("/")
    tf = there.drop_duplicates("device").set_index("device")["tf"]
    other = there.assign(device=split[0], mode=split[2], against="numpy", tf=split[0].map(tf).fillna(""))
    others = np.zeros(len(records), "int64")
    plans = there["against"] == "plan"
    others[plans.to_numpy()] = found(other[plans], known)
    both = others > 0
    loose = plans.to_numpy() & np.asarray([False, *(e.against == "*" for e in known.entries)])[number]
    number = np.where((number == 0) & np.isin(records["verdict"].astype(str), ["mismatch", "known"]), others, number)
    about = np.asarray([("", ""), *((e.kind, e.code) for e in known.entries)], dtype=object)
    fits = (about[number, 0] == kind) & ((about[number, 1] == "") | (about[number, 1] == code.to_numpy()))
    differs, agrees = np.isin(was, ["mismatch", "known"]), np.isin(was, ["match", "contract", "stale"])
    verdict = np.where(differs, np.where((number > 0) & (both | fits), "known", "mismatch"), was)
    verdict = np.where(
        agrees, np.where((number > 0) & ~both & ~loose, "stale", np.where(was == "stale", "match", was)), verdict
    )
    return pd.DataFrame({"verdict": verdict, "entry": number}, index=records.index)


def entries(records: pd.DataFrame, known: Known, path: Path | None = None) -> pd.DataFrame:
    """Every entry and what it is about in a run, in the order of the file.

    Columns: `entry` (its number, from 1), `spec`, `kind`, `owner`, `reason`, `link`, `tf`; `records`, `cases` and
    `plans` that it makes known; `stale`, how many records it is about that no longer fail; `state`: `holds`, `narrow`
    (some still fail), `stale`, `idle` (about cases that ran, but no comparison of theirs) or `not run`; `commit` and
    `since` (UTC), of the last change to what it selects, where `path` is its file in a git checkout, else empty.
    """
    new = judged(records, known)
    plans = tables.plans(records).astype(str)
    told = new.assign(case=records["case"].astype(str), plan=plans)
    covered = told[told["verdict"] == "known"].groupby("entry")
    many = covered.agg(
        records=("case", "size"),
        cases=("case", "nunique"),
        plans=("plan", lambda names: " ".join(sorted(set(names), key=tables.plan_order))),
    )
    stale = told[told["verdict"] == "stale"].groupby("entry").size()
    fields = ("spec", "kind", "owner", "reason", "link", "tf")
    rows: list[dict[str, Any]] = [{n: _one(getattr(e, n)) for n in fields} for e in known.entries]
    table = pd.DataFrame(rows, columns=list(fields), index=range(1, len(rows) + 1))
    table = table.join(many).fillna({"records": 0, "cases": 0, "plans": ""}).astype({"records": int, "cases": int})
    table["stale"] = stale.reindex(table.index, fill_value=0)
    idle = _idle(records, known)
    holding = np.where(table["stale"] > 0, "narrow", "holds")
    gone = np.where(table["stale"] > 0, "stale", np.where(table.index.isin(idle), "idle", "not run"))
    table["state"] = np.where(table["records"] > 0, holding, gone)
    blamed = _blame(path) if path else []
    blamed = blamed if len(blamed) == len(table) else [("", "")] * len(table)
    for i, name in enumerate(("commit", "since")):
        table[name] = pd.Series([one[i] for one in blamed], index=table.index, dtype="str")
    return table.rename_axis("entry").reset_index()


def of_run(records: pd.DataFrame, info: RunInfo, judged_by: JudgedBy | None) -> pd.DataFrame:
    """`entries` of the file that a run was judged by, as it is now; none where that can't be read, or was another one.

    What the run says of its suites and its file is compared, and never imported or opened.
    """
    nothing = pd.DataFrame(columns=["state"])
    if not judged_by or not info.known or judged_by.other(info) or not len(records):
        return nothing
    path = ROOT / judged_by.known
    try:
        known = load(path, Catalog.load(judged_by.suites))
        recorded = {name: about for name, about in info.devices.items() if "recorded" in about}
        types = {name: Device.parse(about.get("device", "")).type for name, about in recorded.items()}
    except (KnownError, LookupError, ImportError, OSError, ValueError):
        return nothing
    return entries(records, replace(known, types=types), path)


def _one(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _idle(records: pd.DataFrame, known: Known) -> set[int]:
    """The numbers of the entries that `Known.idle` names."""
    there = places(records)
    some = there[there["spec"].isin({spec for entry in known.entries for spec in listed(entry.spec)})]
    by_spec: dict[str, tuple[list[tuple[dict[str, str], str, str]], ...]] = {}
    for i, names in enumerate((CELL, PLACE)):
        for place in _distinct(some, (*names, "tf"))[1]:
            of = place.pop("tf"), known.types.get(place["device"], "")
            by_spec.setdefault(place["spec"], ([], []))[i].append((place, *of))
    idle = set()
    for number, entry in enumerate(known.entries, 1):
        near = [by_spec[spec] for spec in listed(entry.spec) if spec in by_spec]
        ran, about = (any(entry.selects(*place) for both in near for place in both[i]) for i in (0, 1))
        idle.update([number] if ran and not about else [])
    return idle


def _distinct(there: pd.DataFrame, names: Collection[str]) -> tuple[np.ndarray, list[dict[str, str]]]:
    """Which of the distinct places each row is, and those places."""
    codes = there.groupby(list(names), sort=False).ngroup().to_numpy("int64")
    distinct = there[list(names)].drop_duplicates()
    return codes, [dict(zip(names, row, strict=True)) for row in distinct.to_numpy().tolist()]


def without(text: str, numbers: Collection[int]) -> str:
    """The text of a known.toml without some of its entries, counted from 1, and the comments right above those.

    Raises:
      ValueError: it can't be done line by line; the message says so.
    """
    lines = text.splitlines(keepends=True)
    keep = np.ones(len(lines), bool)
    for number, (first, last) in enumerate(_blocks(lines), 1):
        if number in numbers:
            while first and lines[first - 1].lstrip().startswith("#"):
                first -= 1
            while last + 1 < len(lines) and not lines[last + 1].strip():
                last += 1
            keep[first : last + 1] = False
    left = "".join(line for line, kept in zip(lines, keep, strict=True) if kept)
    wanted = [table for number, table in enumerate(tomllib.loads(text).get("known", []), 1) if number not in numbers]
    try:
        done = tomllib.loads(left).get("known", []) == wanted
    except tomllib.TOMLDecodeError:
        done = False
    if not done:
        raise ValueError("known.toml is not laid out one field a line: delete the spent entries by hand")
    return left


def _blocks(lines: list[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each entry."""
    heads = [i for i, line in enumerate(lines) if _HEAD.match(line.rstrip("\r\n"))]
    for first, end in zip(heads, [*heads, len(lines)][1:], strict=True):
        last = end - 1
        while last > first and (not lines[last].strip() or lines[last].lstrip().startswith("#")):
            last -= 1
        yield first, last


def _blame(path: Path) -> list[tuple[str, str]]:
    """The commit and the time of the last change to the selectors of each entry; nothing outside this checkout.

    Git obeys the settings of the repository that it is asked of, which may name programs: it is asked of this one only,
    and with none of them.
    """
    root = ROOT.resolve()
    if not path.resolve().is_relative_to(root):
        return []
    git = ["git", "-C", str(root), f"--git-dir={root / '.git'}", f"--work-tree={root}", *_SAFE]
    command = [
        *git,
        "blame",
        "--no-textconv",
        "--line-porcelain",
        "--",
        str(path.resolve().relative_to(ROOT.resolve())),
    ]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=clean)
    except (OSError, subprocess.SubprocessError):
        return []
    lines, commits, times = [], [], []
    for line in done.stdout.split("\n"):
        if line.startswith("\t"):
            lines.append(line[1:])
        elif re.fullmatch(r"[0-9a-f]{40} \d+ \d+( \d+)?", line):
            commits.append(line[:12])
        elif line.startswith("committer-time "):
            times.append(int(line.split()[1]))
    told = []
    for first, last in _blocks(lines):
        own = [i for i in range(first + 1, last + 1) if not re.match(r"\s*(owner|reason|link|#)", lines[i])]
        newest = max(own, key=lambda i: times[i], default=first)
        told.append((commits[newest], datetime.fromtimestamp(times[newest], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")))
    return told
