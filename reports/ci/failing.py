"""Failing: the causes of what fails in one or more runs, and the issue that tells of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from tf_opdiff.harness.store.record import FAILING
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.analysis.causes import causes
from tf_opdiff.reports.analysis.changelog import many, names
from tf_opdiff.reports.analysis.changes import diff
from tf_opdiff.reports.data import frame, tables
from tf_opdiff.reports.data.load import load, load_repros
from tf_opdiff.reports.text import sentence
from tf_opdiff.reports.text.markdown import code, escape, table
from tf_opdiff.reports.text.summary import plain

#: What became of a finding's program that showed it, in this run or before.
SHOWN = ("reproduced", "reproduced earlier")
#: Specs that an issue lists, and characters of a program that it shows.
LISTED, PROGRAM = 50, 12_000
_MARK = re.compile(r"<!-- tf-opdiff cause (\{[^\n]*\}) -->\r?(\n|$)")


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a cause is known by from night to night: the verdict and the kind of specs, and in each run on which plans.

    `reason` is that of the known failure, where it no longer fails. A place stands in the first line of an
    issue's body, where nobody sees it.
    """

    verdict: str
    kind: str
    specs: list[str]
    runs: dict[str, list[str]]
    reason: str = ""

    @property
    def plans(self) -> set[str]:
        """The plans in all runs."""
        return {plan for plans in self.runs.values() for plan in plans}

    def shared(self, other: Place) -> int:
        """In how many specs × plans both fail in the same way."""
        if (self.verdict, self.kind, self.reason) != (other.verdict, other.kind, other.reason):
            return 0
        return len({*self.specs} & {*other.specs}) * len(self.plans & other.plans)


@dataclass(frozen=True)
class Night:
    """A run: its records and what is known of it, under the name that it has every night."""

    name: str
    directory: Path
    info: RunInfo
    records: pd.DataFrame


@dataclass(frozen=True)
class Cause:
    """What fails alike on the same plans: where, as which issue, and with which text."""

    place: Place
    title: str
    body: str


def read(paths: Sequence[Path]) -> list[Night]:
    """The runs in these directories: each that of a run, or of a night, whose runs are named by their groups.

    Raises:
      FileNotFoundError: there is none.
      ValueError: two have the same name.
    """
    found: dict[str, Path] = {}
    for path in paths:
        runs = {path.name: path} if (path / "run.json").exists() else {}
        runs = runs or {one.parent.parent.name: one.parent for one in sorted(path.glob("*/*/run.json"))}
        if not runs:
            raise FileNotFoundError(f"{path}: expected the directory of a run, or of a night's merged runs")
        if twice := runs.keys() & found.keys():
            raise ValueError(f"{path}: two runs are named {min(twice)}")
        found |= runs
    return [Night(name, path, RunInfo.load(path), load(path)) for name, path in found.items()]


def gather(nights: Sequence[Night], site: str = "") -> list[Cause]:
    """The causes of what fails, over all the runs, those of most records first; `site` is where their pages are."""
    parts = [n.records[n.records["verdict"].isin(FAILING)].assign(night=n.name) for n in nights]
    failing = pd.concat([part.astype({"night": "str"}) for part in parts], ignore_index=True)
    if not len(failing):
        return []
    records = frame.typed(failing.drop(columns="night").astype({n: "str" for n in frame.CATEGORIES if n in failing}))
    changes = diff(records.iloc[:0], records)
    found = sorted(tables.rows(causes(changes)), key=lambda row: -row["records"])
    said = records.assign(night=failing["night"], plan=tables.plans(records).astype(str))
    return [_cause(row, said, changes, nights, site) for row in found]


def quiet(text: object, width: int = 300) -> str:
    """A text that an issue shows as it is, and by which it mentions nobody and refers to no other issue.

    GitHub looks for those after it has read escapes, so a space of no width follows what they begin with.
    """
    return escape(text, width).replace("&#64;", "&#64;&#8203;").replace("\\#", "\\#&#8203;")


def _cause(
    row: Mapping[str, Any], records: pd.DataFrame, changes: pd.DataFrame, nights: Sequence[Night], site: str
) -> Cause:
    own = records[records["spec"].isin(row["specs"]) & (records["verdict"].astype(str) == row["now"])]
    own = own[own["kind"].astype(str) == row["kind"]]
    own = own[own["reason"].astype(str) == row["reason"]] if row["reason"] else own
    by_run = own.groupby("night")["plan"].agg(lambda plans: sorted(set(plans), key=tables.plan_order))
    runs = {str(night): list(plans) for night, plans in by_run.items()}
    place = Place(row["now"], row["kind"], sorted(row["specs"]), runs, row["reason"])
    record = tables.row(records, int(changes["after"].loc[row["example"]]))
    what = f"{row['now']}, {row['kind'].replace('_', ' ')}" if row["kind"] else row["now"]
    title = plain(f"{what}: {names(row['specs'])} on {row['plans']}", 200)
    return Cause(place, title, _body(place, row, record, own, nights, site))


def _body(
    place: Place,
    row: Mapping[str, Any],
    record: Mapping[str, Any],
    own: pd.DataFrame,
    nights: Sequence[Night],
    site: str,
) -> str:
    values = sentence.values(record)
    counted = f"{many(row['records'], 'record')} in {many(row['cases'], 'case')} of {many(len(row['specs']), 'spec')}"
    told = sentence.of_record(record) + (f" {values[0].upper()}{values[1:]}." if values else "")
    lines = [mark(place), quiet(told, 600)]
    lines += [quiet(record[name], 600) for name in ("detail", "reason") if record[name]]
    lines += ["", f"Rerun: {code(record['rerun'])}", ""]
    lines += [f"{counted}; {quiet(row['quantities'])}; {quiet(row['dtypes'])}", ""]
    rows = []
    for night in (n for n in nights if n.name in place.runs):
        n = f"{(own['night'] == night.name).sum():,}"
        info, where = night.info, f"{night.name}/{night.directory.name}/index.html"
        page = f"[report]({site.rstrip('/')}/{where})" if site and re.fullmatch(r"[\w./-]+", where) else ""
        facts = [night.name, info.tf, info.machine.get("processor", ""), info.cuda]
        facts += [" ".join(place.runs[night.name]), info.started]
        rows.append([*map(quiet, facts), n, page])
    heads = ["run", "TensorFlow", "machine", "CUDA", "plans", "begun", "records", ""]
    lines += [*table(heads, rows), "", f"<details><summary>{many(len(row['specs']), 'spec')}</summary>", ""]
    lines += [f"- {quiet(name)}: {many(n, 'record')}" for name, n in list(row["specs"].items())[:LISTED]]
    lines += [f"- and {len(row['specs']) - LISTED:,} more"] if len(row["specs"]) > LISTED else []
    lines += ["", "</details>", "", *_program(record, nights)]
    ends = "Once nothing of it fails any more, it is closed. One that a person closes as not planned stays closed."
    lines += [f"*This text is written anew each night; comments stay. {ends}*"]
    return "\n".join(lines) + "\n"


def _program(record: Mapping[str, Any], nights: Sequence[Night]) -> list[str]:
    """The program of a finding of the same spec and kind that was seen to show it; nothing where there is none."""
    for night in nights:
        for one in load_repros(night.directory):
            alike = all(one.get(name, "") == record[name] for name in ("spec", "verdict", "kind"))
            alike = alike and one.get("reason", "") in ("", record["reason"])
            if alike and one["status"] in SHOWN and one["text"] and len(one["text"]) <= PROGRAM:
                fence = "`" * (3 + max((len(run) for run in re.findall("`+", one["text"])), default=0))
                text = "\n".join(plain_line(line) for line in one["text"].splitlines())
                heading = "<details><summary>A program that shows it, of TensorFlow and NumPy alone</summary>"
                return [heading, "", f"{fence}python", text, fence, "", "</details>", ""]
    return []


def plain_line(text: str) -> str:
    """A line of a program, with its blanks, but without characters that do not print."""
    return "".join(c if c.isprintable() else " " for c in text)


def mark(place: Place) -> str:
    """The line by which an issue is known again; it can't end the comment that it stands in."""
    text = msgspec.json.encode(place).decode().replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")
    return f"<!-- tf-opdiff cause {text} -->"


def marked(body: str) -> Place | None:
    """What an issue's body says that it is about; None where its first line says nothing of the kind."""
    found = _MARK.match(body)
    try:
        return msgspec.json.decode(found[1], type=Place) if found else None
    except msgspec.DecodeError:
        return None
