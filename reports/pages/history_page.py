"""Timeline: a history as text for the terminal, as Markdown, and as a page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from tf_opdiff.reports.analysis import history
from tf_opdiff.reports.analysis.grid import MEANS, SYMBOLS
from tf_opdiff.reports.analysis.nights import Nights
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.pages.run_page import POLICY, environment, style
from tf_opdiff.reports.text.markdown import escape, table
from tf_opdiff.reports.text.summary import LETTERS, plain

#: Lines that a page lists, rows of what is flaky, and rows at the terminal; the rest is counted.
LINES, FLAKY, ROWS = 1_500, 500, 12


@dataclass
class Line:
    """Rows of the grid that have the same verdicts in every run: every one of `cases` on every one of `plans`."""

    cases: list[str]
    plans: list[str]
    kinds: str
    cells: list[str]

    @property
    def where(self) -> str:
        """The plans, those of a device together: `cpu/eager, xla`."""
        by_device = groupby(self.plans, lambda plan: plan.rpartition("/")[0])
        return "; ".join(f"{d}/{', '.join(p.rpartition('/')[2] for p in plans)}" for d, plans in by_device)


@dataclass
class Spec:
    """A spec's worst verdict in each run, and its lines, the latest changed first."""

    suite: str
    name: str
    cells: list[str]
    lines: list[Line] = field(default_factory=list)


@dataclass
class Told:
    """All that is told of a history: `changed` has the rows whose verdict is new in the newest run that has them."""

    runs: list[dict[str, Any]]
    left_out: dict[str, str]
    specs: list[Spec]
    seen: pd.DataFrame
    flaky: list[dict[str, Any]]
    quiet: int
    unlisted: int = 0

    @property
    def suites(self) -> list[tuple[str, list[Spec]]]:
        names = dict.fromkeys(spec.suite for spec in self.specs)
        return [(name, [spec for spec in self.specs if spec.suite == name]) for name in names]

    @property
    def partial(self) -> int:
        return sum(bool(run["partial"]) for run in self.runs)

    @property
    def changed(self) -> pd.DataFrame:
        return self.seen[self.seen["since"] == self.runs[0]["run"]]


def of(found: Nights) -> Told:
    """What a history tells."""
    rows, seen = history.grid(found), history.seen(found)
    specs = history.grid(found, ("suite", "spec"), quiet=True)
    whole = dict(zip(map(tuple, specs.index), specs.to_numpy().tolist(), strict=True))
    made: dict[tuple[str, str], Spec] = {}
    lines = _lines(rows, seen)
    for suite, spec, line in lines[:LINES]:
        made.setdefault((suite, spec), Spec(suite, spec, whole[suite, spec])).lines.append(line)
    runs = tables.rows(found.runs)
    for run in runs:
        run["date"] = f"{run['started'][5:10]} {run['started'][11:16]}".strip() or run["name"]
    every = found.records.drop_duplicates(list(history.ROW))
    quiet, unlisted = len(every) - len(rows), max(0, len(lines) - LINES)
    return Told(runs, found.left_out, list(made.values()), seen, _flaky(found), quiet, unlisted)


def _lines(rows: pd.DataFrame, seen: pd.DataFrame) -> list[tuple[str, str, Line]]:
    """The rows of the grid, those alike gathered, in its order."""
    if not len(rows):
        return []
    told = rows.index.to_frame(index=False).astype("str")
    told["plan"] = tables.plans(told).astype(str)
    told["cells"] = ["\n".join(line) for line in rows.to_numpy().tolist()]
    kinds = seen.set_index(list(history.ROW))["kinds"]
    told["kinds"] = kinds.reindex(rows.index, fill_value="").to_numpy()
    keys = ["suite", "spec", "cells"]
    told = told.groupby([*keys, "case"], sort=False).agg(plans=("plan", _plans), kinds=("kinds", _words)).reset_index()
    told = told.groupby([*keys, "plans"], sort=False).agg(cases=("case", list), kinds=("kinds", _words)).reset_index()
    return [
        (r["suite"], r["spec"], Line(sorted(r["cases"]), r["plans"].split(), r["kinds"], r["cells"].split("\n")))
        for r in tables.rows(told)
    ]


def _plans(names: Sequence[str]) -> str:
    return " ".join(sorted(set(names), key=tables.plan_order))


def _words(texts: Sequence[str]) -> str:
    return " ".join(sorted({word for text in texts for word in str(text).split()}))


def _flaky(found: Nights) -> list[dict[str, Any]]:
    """What is flaky, records of a case that came and went alike gathered: `plans`, `quantities`, `records`."""
    some = history.flaky(found)
    some["plan"] = tables.plans(some).astype(str)
    keys = ["suite", "spec", "case", "changes", "opportunities", "rate", "verdicts"]
    told = some.groupby(keys, sort=False).agg(
        plans=("plan", _plans), quantities=("quantity", _words), records=("quantity", "size")
    )
    return tables.rows(told.reset_index())


def text(told: Told) -> list[str]:
    """The history for the terminal: the runs, the specs × runs, what is flaky, what is new in the newest run."""
    runs = told.runs
    lines = [f"{len(runs)} runs, {plain(runs[-1]['started'], 25)} to {plain(runs[0]['started'], 25)}; newest first"]
    lines += [f"left out: {plain(f'{name}: {why}', 200)}" for name, why in told.left_out.items()]
    groups = [(key, len(list(some))) for key, some in groupby(runs, lambda run: (run["tf"], run["host"]))]
    lines.append("columns: " + ", then ".join(plain(f"{n} of {tf} on {host}", 60) for (tf, host), n in groups))
    lines += [f"partial: {plain(run['name'] + ': ' + run['partial'], 200)}" for run in runs if run["partial"]]
    width = max((len(plain(f"{s.suite}/{s.name}", 44)) for s in told.specs[:ROWS]), default=0)
    lines += ["", f"{'':{width}}  {''.join('*' if run['partial'] else ' ' for run in runs)}".rstrip()]
    for spec in told.specs[:ROWS]:
        cells = "".join(LETTERS.get(v, " ") for v in spec.cells)
        lines.append(f"{plain(f'{spec.suite}/{spec.name}', 44):{width}}  {cells}".rstrip())
    lines += [f"and {len(told.specs) - ROWS:,} more specs"] if len(told.specs) > ROWS else []
    legend = ", ".join(f"{letter} {verdict}" for verdict, letter in LETTERS.items())
    lines.append(f"({legend}, blank: no record, * partial run)")
    lines += [f"{told.quiet:,} rows were never anything but match or contract", ""]
    for row in told.flaky[:5]:
        lines.append(plain(f"flaky: {_rate(row)} {row['case']} {row['quantities']} on {row['plans']}"))
    lines += [f"flaky: {len(told.flaky) - 5:,} more"] if len(told.flaky) > 5 else []
    changed = told.changed
    for row in tables.rows(changed.head(5)):
        lines.append(plain(f"new: {row['verdict']} {row['kinds']} {row['case']} on {row['device']}/{row['mode']}"))
    return lines + ([f"new: {len(changed) - 5:,} more"] if len(changed) > 5 else [])


def _rate(row: dict[str, Any]) -> str:
    return f"{row['rate']:.0%} ({row['changes']} of {row['opportunities']})"


def markdown(told: Told) -> str:
    """The history in Markdown: the runs, specs × runs, what is flaky, and since when what fails does."""
    lines = [f"# tf-opdiff: {len(told.runs)} runs, the newest first", ""]
    lines += [f"- left out: {escape(name)}: {escape(why)}" for name, why in told.left_out.items()]
    heads = ["", "run", "started", "TensorFlow", "host", "records", "partial"]
    facts = [[run[name] for name in ("run", "started", "tf", "host", "records", "partial")] for run in told.runs]
    lines += ["", *table(heads, [[str(i), *map(escape, row)] for i, row in enumerate(facts, 1)]), ""]
    grid = [[escape(f"{s.suite}/{s.name}"), *(SYMBOLS.get(v, "") for v in s.cells)] for s in told.specs]
    lines += ["## The worst verdict of each spec", "", *table(["spec", *map(str, range(1, len(facts) + 1))], grid), ""]
    lines += [", ".join(f"{SYMBOLS[v]} {v}" for v in tables.SEVERITY) + "; empty: no record", ""]
    lines += [f"{told.quiet:,} rows were never anything but match or contract.", "", "## Flaky", ""]
    names = ["case", "quantities", "plans"]
    rows = [[escape(_rate(row)), *(escape(row[name]) for name in names)] for row in told.flaky[:FLAKY]]
    lines += [*table(["flip rate", *names], rows), ""] if rows else ["Nothing.", ""]
    lines += [f"And {len(told.flaky) - FLAKY:,} more.", ""] if len(told.flaky) > FLAKY else []
    names = ["verdict", "kinds", "case", "device", "mode", "since", "first", "last", "bad", "runs"]
    rows = [[escape(row[name]) for name in names] for row in tables.rows(told.seen.head(FLAKY))]
    lines += [
        "## Failing and known, the latest changed first",
        "",
        *(table(names, rows) if rows else ["Nothing."]),
    ]
    return "\n".join(lines + ([f"\nAnd {len(told.seen) - FLAKY:,} more."] if len(told.seen) > FLAKY else [])) + "\n"


def html(told: Told, folder: Path, page: Path) -> str:
    """The page, without scripts; the runs' own pages are linked where they are there."""
    for run in told.runs:
        own = folder / run["name"] / "index.html"
        run["link"] = quote(os.path.relpath(own, page.parent)) if own.exists() else ""
    heads = [(tf, len(list(some))) for tf, some in groupby(told.runs, lambda run: run["tf"])]
    return (
        environment()
        .get_template("history.html")
        .render(
            told=told,
            heads=heads,
            hosts=len({run["host"] for run in told.runs}) > 1,
            flaky=told.flaky[:FLAKY],
            symbols=SYMBOLS,
            means=MEANS,
            rate=_rate,
            style=style(),
            policy=POLICY,
        )
    )
