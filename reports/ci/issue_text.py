"""Issue text: the title and the body of the issue about one cause, and the mark by which it is recognised."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pandas as pd

from tf_opdiff.reports.ci.night_runs import NightRun
from tf_opdiff.reports.data.run_data.load import load_repros
from tf_opdiff.reports.text.counted import many, names
from tf_opdiff.reports.text.lines import plain
from tf_opdiff.reports.text.sentences import sentence
from tf_opdiff.reports.text.sentences.markdown import code, escape, table

#: The outcomes of a finding's program that reproduced it, in this run or before.
SHOWN = ("reproduced", "reproduced earlier")
#: The most specs that an issue lists, and the most characters of a program that it shows.
LISTED, PROGRAM = 50, 12_000
_MARK = re.compile(r"<!-- tf-opdiff cause (\{[^\n]*\}) -->\r?(\n|$)")


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The facts that identify a cause from night to night; the hidden first line of an issue's body holds them.

    Attributes:
      verdict, kind: those of its records.
      specs: the names of the specs that fail.
      runs: the plans on which they fail, by the name of the run.
      reason: that of the known failure that no longer fails.
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
        """How many specs × plans fail in both in the same way."""
        if (self.verdict, self.kind, self.reason) != (other.verdict, other.kind, other.reason):
            return 0
        return len({*self.specs} & {*other.specs}) * len(self.plans & other.plans)

    @property
    def words(self) -> str:
        """The verdict and the kind in words."""
        return f"{self.verdict}, {self.kind.replace('_', ' ')}" if self.kind else self.verdict


@dataclass(frozen=True)
class CauseRecords:
    """The records of one cause.

    Attributes:
      place: where it fails.
      row: its row of `reports.analysis.comparisons.causes.causes`.
      record: the record that represents the rest.
      records: all its records, with the column `night`, the name of the run.
    """

    place: Place
    row: Mapping[str, Any]
    record: Mapping[str, Any]
    records: pd.DataFrame


def quiet(text: object, width: int = 300) -> str:
    """A text that an issue shows unchanged, and that mentions nobody and refers to no other issue.

    GitHub resolves escapes before it looks for mentions and references. So a space of no width follows the character
    with which they begin.
    """
    return escape(text, width).replace("&#64;", "&#64;&#8203;").replace("\\#", "\\#&#8203;")


def title(cause: CauseRecords) -> str:
    """The title of a cause's issue."""
    return plain(f"{cause.place.words}: {names(cause.row['specs'])} on {cause.row['plans']}", 200)


def body(cause: CauseRecords, nights: Sequence[NightRun], site: str) -> str:
    """The text of a cause's issue; `site` is the address of the night's pages."""
    row, record, specs = cause.row, cause.record, cause.row["specs"]
    values = sentence.values(record)
    text = sentence.of_record(record) + (f" {values[0].upper()}{values[1:]}." if values else "")
    lines = [mark(cause.place), quiet(text, 600)]
    lines += [quiet(record[name], 600) for name in ("detail", "reason") if record[name]]
    lines += ["", f"Rerun: {code(record['rerun'])}", ""]
    counted = f"{many(row['records'], 'record')} in {many(row['cases'], 'case')} of {many(len(specs), 'spec')}"
    lines += [f"{counted}; {quiet(row['quantities'])}; {quiet(row['dtypes'])}", ""]
    lines += [*_runs(cause, nights, site), "", f"<details><summary>{many(len(specs), 'spec')}</summary>", ""]
    lines += [f"- {quiet(name)}: {many(n, 'record')}" for name, n in list(specs.items())[:LISTED]]
    lines += [f"- and {len(specs) - LISTED:,} more"] if len(specs) > LISTED else []
    lines += ["", "</details>", "", *_program(record, nights)]
    rules = (
        "Each night rewrites this text; comments stay.",
        "The issue is closed when nothing here fails any more.",
        "An issue that a person closes as not planned stays closed.",
    )
    lines += [f"*{' '.join(rules)}*"]
    return "\n".join(lines) + "\n"


def _runs(cause: CauseRecords, nights: Sequence[NightRun], site: str) -> list[str]:
    """A table of the runs in which a cause fails."""
    rows = []
    for night in (night for night in nights if night.name in cause.place.runs):
        count = f"{(cause.records['night'] == night.name).sum():,}"
        info, where = night.info, f"{night.name}/{night.directory.name}/index.html"
        page = f"[report]({site.rstrip('/')}/{where})" if site and re.fullmatch(r"[\w./-]+", where) else ""
        facts = [night.name, info.tf, info.machine.get("processor", ""), info.cuda]
        facts += [" ".join(cause.place.runs[night.name]), info.started]
        rows.append([*map(quiet, facts), count, page])
    return table(["run", "TensorFlow", "machine", "CUDA", "plans", "started", "records", ""], rows)


def _program(record: Mapping[str, Any], nights: Sequence[NightRun]) -> list[str]:
    """The program of a finding of the same spec and kind that reproduced it; no lines if there is none."""
    for night in nights:
        for repro in load_repros(night.directory):
            same = all(repro.get(name, "") == record[name] for name in ("spec", "verdict", "kind"))
            same = same and repro.get("reason", "") in ("", record["reason"])
            if same and repro["status"] in SHOWN and repro["text"] and len(repro["text"]) <= PROGRAM:
                return _listing(repro["text"])
    return []


def _listing(program: str) -> list[str]:
    """A program that can be unfolded, in a fence that no line of it can close."""
    fence = "`" * (3 + max((len(run) for run in re.findall("`+", program)), default=0))
    text = "\n".join(plain_line(line) for line in program.splitlines())
    heading = "<details><summary>A program that reproduces it with TensorFlow and NumPy only</summary>"
    return [heading, "", f"{fence}python", text, fence, "", "</details>", ""]


def plain_line(text: str) -> str:
    """A line of a program, its blanks kept and its unprintable characters replaced by blanks."""
    return "".join(c if c.isprintable() else " " for c in text)


def mark(place: Place) -> str:
    """The line by which an issue is recognised; its text can't end the comment that holds it."""
    text = msgspec.json.encode(place).decode().replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")
    return f"<!-- tf-opdiff cause {text} -->"


def marked(body: str) -> Place | None:
    """The place in the first line of an issue's body; None where that line holds none."""
    line = _MARK.match(body)
    try:
        return msgspec.json.decode(line[1], type=Place) if line else None
    except msgspec.DecodeError:
        return None
