"""Grid: suites, specs and plans as the page's matrix shows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pandas as pd

from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.data import tables

#: What a cell shows besides its colour.
SYMBOLS = {
    "mismatch": "✗",
    "error": "!",
    "stale": "S",
    "known": "K",
    "not run": "?",
    "unavailable": "∅",
    "contract": "§",
    "match": "✓",
    "": "",
}
#: The most specs that are shown before anybody asks for them.
OPENED = 100
MEANS = {
    "mismatch": "differs, and nobody expected it",
    "error": "the suite itself is at fault",
    "stale": "a known failure that is gone",
    "known": "differs, as recorded",
    "not run": "planned, but without a result",
    "unavailable": "no kernel or no device there",
    "contract": "documented divergence, held",
    "match": "as promised",
}


@dataclass
class Cell:
    """One spec (or suite) under one plan: how many records have each verdict, and how many cells did not run."""

    device: str
    mode: str
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def worst(self) -> str:
        return next((verdict for verdict in SYMBOLS if self.counts[verdict]), "")

    @property
    def shown(self) -> str:
        """The symbol, with the number of records behind it where there is something to look at."""
        loud = self.worst in ("mismatch", "error", "stale", "known", "not run")
        return SYMBOLS[self.worst] + (f" {self.counts[self.worst]:,}" if loud else "")

    @property
    def told(self) -> str:
        """All counts in words."""
        return ", ".join(f"{self.counts[v]:,} {v}" for v in SYMBOLS if self.counts[v]) or "nothing planned"


@dataclass
class Row:
    """A spec, or a suite with its specs, under every plan."""

    name: str
    cells: list[Cell]
    specs: list[Row] = field(default_factory=list)

    @property
    def failing(self) -> bool:
        return any(cell.worst in ("mismatch", "error", "stale") for cell in self.cells)


@dataclass
class Grid:
    """The matrix: the plans in order, by device, and a row for each suite."""

    devices: dict[str, list[str]]
    rows: list[Row]

    @property
    def opened(self) -> list[Row]:
        """The suites that stand open at first: those that fail, where that is not too long to lay out and to read."""
        failing = [row for row in self.rows if row.failing]
        return failing if sum(len(row.specs) for row in failing) <= OPENED else []


def grid(records: pd.DataFrame, info: RunInfo) -> Grid:
    """The matrix of a run. Planned cells without a result count as `not run`, also where a spec has no record."""
    counts: dict[tuple[str, str], dict[tuple[str, str], Counter[str]]] = {}
    sizes = records.groupby(["suite", "spec", "device", "mode", "verdict"], observed=True).size()
    for suite, spec, device, mode, verdict, n in sizes.reset_index().itertuples(index=False):
        counts.setdefault((suite, spec), {}).setdefault((device, mode), Counter())[verdict] += n
    cases = records[["case", "suite", "spec"]].drop_duplicates("case").astype("str")
    homes = {case: (suite, spec) for case, suite, spec in cases.itertuples(index=False)}
    suites = {spec: suite for suite, spec in homes.values()}
    for lost in tables.not_run(info).itertuples():
        spec = str(lost.case).rsplit("-", 2)[0]
        home = homes.get(str(lost.case)) or (suites.get(spec, "(no record)"), spec)
        counts.setdefault(home, {}).setdefault((str(lost.device), str(lost.mode)), Counter())["not run"] += 1
    there = {plan for row in counts.values() for plan in row}
    plans = sorted(there, key=lambda plan: tables.plan_order("/".join(plan)))
    rows: dict[str, Row] = {}
    for suite, spec in sorted(counts):
        cells = [Cell(*plan, counts[suite, spec].get(plan, Counter())) for plan in plans]
        row = rows.setdefault(suite, Row(suite, [Cell(*plan) for plan in plans]))
        row.specs.append(Row(spec, cells))
        for total, cell in zip(row.cells, cells, strict=True):
            total.counts += cell.counts
    devices: dict[str, list[str]] = {}
    for device, mode in plans:
        devices.setdefault(device, []).append(mode)
    return Grid(devices, list(rows.values()))
