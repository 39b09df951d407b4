"""Timeline: the content of a history's page: verdicts over time, flaky records, and new verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.reports.analysis.comparisons import noise
from tf_opdiff.reports.analysis.histories import history
from tf_opdiff.reports.analysis.histories.nights import Nights
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data.plans import joined

#: The most lines of a timeline; the rest is counted.
LINES = 1_500


@dataclass
class Line:
    """Rows of the grid that have the same verdicts in every run: each of `cases` on each of `plans`."""

    cases: list[str]
    plans: list[str]
    kinds: str
    cells: list[str]

    @property
    def where(self) -> str:
        """The plans, those of a device together: `cpu/eager, xla`."""
        names = [name for name in map(PlanName.parse, self.plans) if name]
        by_device = groupby(names, lambda name: name.device)
        return "; ".join(
            f"{device}/{', '.join(name.mode for name in same_device)}" for device, same_device in by_device
        )


@dataclass
class Spec:
    """A spec's worst verdict in each run, and its lines, those that changed last first.

    `failing` says since when the spec fails without a break, if it fails in the newest run that has it; see
    `reports.analysis.histories.history.failing`.
    """

    suite: str
    name: str
    cells: list[str]
    lines: list[Line] = field(default_factory=list)
    failing: dict[str, Any] | None = None


@dataclass
class Timeline:
    """The content of a history's page.

    Attributes:
      runs: the runs, the newest first.
      left_out: the names of the runs that can't be read, each with the reason.
      specs: the specs with lines, in the order of their last change.
      seen: the result of `reports.analysis.histories.history.seen`.
      flaky: the flaky records, those of a case that changed alike as one row.
      drifted: the result of `reports.analysis.comparisons.noise.drifted`; `measured` counts the records whose noise is
        known.
      quiet: how many rows were always match or contract.
      unlisted: how many lines are left out.
    """

    runs: list[dict[str, Any]]
    left_out: dict[str, str]
    specs: list[Spec]
    seen: pd.DataFrame
    flaky: list[dict[str, Any]]
    drifted: pd.DataFrame
    measured: int
    quiet: int
    unlisted: int = 0

    @property
    def suites(self) -> list[tuple[str, list[Spec]]]:
        """The specs by suite."""
        names = dict.fromkeys(spec.suite for spec in self.specs)
        return [(name, [spec for spec in self.specs if spec.suite == name]) for name in names]

    @property
    def turned(self) -> list[Spec]:
        """The specs that turned red in the newest run."""
        return [spec for spec in self.specs if spec.failing and spec.failing["turned"]]

    @property
    def first(self) -> list[Spec]:
        """The specs that fail in the newest run, only where no earlier run tested them."""
        return [spec for spec in self.specs if spec.failing and spec.failing["first"]]

    @property
    def still(self) -> list[Spec]:
        """The specs that failed before and fail in the newest run that has them."""
        return [spec for spec in self.specs if spec.failing and spec not in self.turned and spec not in self.first]

    @property
    def partial(self) -> int:
        """How many runs are partial."""
        return sum(bool(run["partial"]) for run in self.runs)

    @property
    def changed(self) -> pd.DataFrame:
        """The rows whose verdict is new in the newest run."""
        return self.seen[self.seen["since"] == self.runs[0]["run"]]


def timeline(nights: Nights) -> Timeline:
    """The timeline of a folder of runs."""
    rows, seen = history.grid(nights), history.seen(nights)
    by_spec = history.grid(nights, ("suite", "spec"), quiet=True)
    cells_of = dict(zip(map(tuple, by_spec.index), by_spec.to_numpy().tolist(), strict=True))
    specs: dict[tuple[str, str], Spec] = {}
    lines, failing = _lines(rows, seen), _failing(nights)
    for suite, spec, line in lines[:LINES]:
        new = Spec(suite, spec, cells_of[suite, spec], failing=failing.get((suite, spec)))
        specs.setdefault((suite, spec), new).lines.append(line)
    runs = tables.rows(nights.runs)
    for run in runs:
        run["date"] = _date(run)
    all_rows = nights.records.drop_duplicates(list(history.ROW))
    quiet, unlisted = len(all_rows) - len(rows), max(0, len(lines) - LINES)
    return Timeline(
        runs,
        nights.left_out,
        list(specs.values()),
        seen,
        _flaky(nights),
        noise.drifted(nights),
        len(noise.noise(nights, runs[0])),
        quiet,
        unlisted,
    )


def _date(run: dict[str, Any]) -> str:
    """The day and the time at which a run started, or else its name."""
    return f"{run['started'][5:10]} {run['started'][11:16]}".strip() or str(run["name"])


def _failing(nights: Nights) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of `reports.analysis.histories.history.failing` by suite and spec; `date` is that of the run `since`."""
    runs = {run["run"]: run for run in tables.rows(nights.runs)}
    rows = tables.rows(history.failing(nights).reset_index())
    return {(row["suite"], row["spec"]): row | {"date": _date(runs[row["since"]])} for row in rows}


def _lines(rows: pd.DataFrame, seen: pd.DataFrame) -> list[tuple[str, str, Line]]:
    """The rows of the grid, those with the same verdicts grouped, in its order; each with its suite and spec."""
    if not len(rows):
        return []
    table = rows.index.to_frame(index=False).astype("str")
    table["plan"] = tables.plans(table).astype(str)
    table["cells"] = ["\n".join(line) for line in rows.to_numpy().tolist()]
    kinds = seen.set_index(list(history.ROW))["kinds"]
    table["kinds"] = kinds.reindex(rows.index, fill_value="").to_numpy()
    keys = ["suite", "spec", "cells"]
    by_case = table.groupby([*keys, "case"], sort=False).agg(plans=("plan", joined), kinds=("kinds", _words))
    by_plans = by_case.reset_index().groupby([*keys, "plans"], sort=False)
    return [
        (r["suite"], r["spec"], Line(sorted(r["cases"]), r["plans"].split(), r["kinds"], r["cells"].split("\n")))
        for r in tables.rows(by_plans.agg(cases=("case", list), kinds=("kinds", _words)).reset_index())
    ]


def _words(texts: Sequence[str]) -> str:
    return " ".join(sorted({word for text in texts for word in str(text).split()}))


def _flaky(nights: Nights) -> list[dict[str, Any]]:
    """The flaky records; those of a case that changed alike are one row with `plans`, `quantities` and `records`."""
    some = history.flaky(nights)
    some["plan"] = tables.plans(some).astype(str)
    keys = ["suite", "spec", "case", "changes", "opportunities", "rate", "verdicts"]
    grouped = some.groupby(keys, sort=False).agg(
        plans=("plan", joined), quantities=("quantity", _words), records=("quantity", "size")
    )
    return tables.rows(grouped.reset_index())
