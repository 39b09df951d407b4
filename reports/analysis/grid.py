"""Grid: suites, specs and plans as the matrix on a run's page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field

import pandas as pd

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data.plans import plan_order
from tf_opdiff.reports.text.verdicts import VERDICTS

#: The state of a cell that was planned and has no result. It is no verdict: no record has it.
NOT_RUN = "not run"


@dataclass(frozen=True)
class CellState:
    """The state of a cell: a verdict, `not run`, or nothing planned.

    `prominent` says whether a cell also shows how many records have the state.
    """

    name: str
    symbol: str
    meaning: str
    prominent: bool


def _states() -> dict[str, CellState]:
    """Every state by name, the one that a reader has to see first in front."""
    states: dict[str, CellState] = {}
    for verdict in VERDICTS.values():
        if verdict.name == "unavailable":
            states[NOT_RUN] = CellState(NOT_RUN, "?", "planned, but without a result", prominent=True)
        states[verdict.name] = CellState(verdict.name, verdict.symbol, verdict.meaning, verdict.prominent)
    return states


STATES = _states()
#: The columns of `Grid.not_run`; `cells` counts the cells of a group.
NOT_RUN_COLUMNS = ("suite", "spec", "dtype", "device", "mode", "cells")
#: The most specs of open suites, so that a page stays short enough to lay out and to read.
OPENED = 100


@dataclass
class Cell:
    """One spec (or suite) under one plan: how many records have each verdict, and how many cells did not run."""

    plan: PlanName
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def worst(self) -> str:
        """The name of the worst state; empty where nothing was planned."""
        return next((state for state in STATES if self.counts[state]), "")

    @property
    def shown(self) -> str:
        """The symbol of the worst state, with the number of records if it is prominent."""
        if not self.worst:
            return ""
        state = STATES[self.worst]
        return state.symbol + (f" {self.counts[state.name]:,}" if state.prominent else "")


@dataclass
class Row:
    """A spec, or a suite with its specs, under every plan."""

    name: str
    cells: list[Cell]
    specs: list[Row] = field(default_factory=list)

    @property
    def failing(self) -> bool:
        """Whether the worst verdict in any cell fails the run."""
        return any(cell.worst in VERDICTS and VERDICTS[cell.worst].fails for cell in self.cells)

    @property
    def quiet(self) -> bool:
        """Whether no cell shows a count: all records are as promised or as documented."""
        return not any(cell.worst and STATES[cell.worst].prominent for cell in self.cells)


@dataclass
class Grid:
    """The matrix: the modes of each device, in the order of the columns, and a row for each suite.

    `not_run` has a row for each group of planned cells without a result, with the columns of `NOT_RUN_COLUMNS`.
    """

    devices: dict[str, list[str]]
    rows: list[Row]
    not_run: pd.DataFrame

    def listed(self, most: int) -> list[tuple[Row, list[Row]]]:
        """Each suite with its specs; without the quiet specs where there are more than `most`."""
        few = sum(len(row.specs) for row in self.rows) <= most
        return [(row, [spec for spec in row.specs if few or not spec.quiet]) for row in self.rows]

    @property
    def opened(self) -> list[Row]:
        """The suites that are open at first: the failing ones, unless they have more than `OPENED` specs."""
        failing = [row for row in self.rows if row.failing]
        return failing if sum(len(row.specs) for row in failing) <= OPENED else []


#: (suite, spec) → plan → how many records or cells have each state.
_Counts = dict[tuple[str, str], dict[PlanName, Counter[str]]]


def grid(records: pd.DataFrame, info: RunInfo) -> Grid:
    """The matrix of a run. Planned cells without a result count as `not run`, also where a spec has no record."""
    not_run = _not_run(records, info)
    counts = _counts(records, not_run)
    plans = sorted({plan for row in counts.values() for plan in row}, key=plan_order)
    rows: dict[str, Row] = {}
    for suite, spec in sorted(counts):
        cells = [Cell(plan, counts[suite, spec].get(plan, Counter())) for plan in plans]
        row = rows.setdefault(suite, Row(suite, [Cell(plan) for plan in plans]))
        row.specs.append(Row(spec, cells))
        for total, cell in zip(row.cells, cells, strict=True):
            total.counts += cell.counts
    devices: dict[str, list[str]] = {}
    for plan in plans:
        devices.setdefault(plan.device, []).append(plan.mode)
    return Grid(devices, list(rows.values()), not_run)


def _counts(records: pd.DataFrame, not_run: pd.DataFrame) -> _Counts:
    counts: _Counts = {}
    sizes = records.groupby(["suite", "spec", "device", "mode", "verdict"], observed=True).size()
    for suite, spec, device, mode, verdict, n in sizes.reset_index().itertuples(index=False):
        counts.setdefault((suite, spec), {}).setdefault(PlanName(device, mode), Counter())[verdict] += n
    for suite, spec, _dtype, device, mode, n in not_run.itertuples(index=False):
        counts.setdefault((suite, spec), {}).setdefault(PlanName(device, mode), Counter())[NOT_RUN] += n
    return counts


def _not_run(records: pd.DataFrame, info: RunInfo) -> pd.DataFrame:
    """The planned cells without a result, grouped by `NOT_RUN_COLUMNS`.

    The suite, the spec and the dtype come from records of the same case. Where a case has no record, its id tells.
    """
    cases = records[["case", "suite", "spec", "dtype"]].drop_duplicates("case").astype("str")
    place_of_case = {case: tuple(place) for case, *place in cases.itertuples(index=False)}
    suite_of_spec = {spec: suite for suite, spec, _dtype in place_of_case.values()}
    groups: Counter[tuple[str, ...]] = Counter()
    for cell in tables.not_run(info).itertuples():
        case = str(cell.case)
        spec = _spec_of(case, suite_of_spec)
        dtype = case.removeprefix(f"{spec}-").partition("-")[0]
        place = place_of_case.get(case) or (suite_of_spec.get(spec, "(no record)"), spec, dtype)
        groups[*place, str(cell.device), str(cell.mode)] += 1
    return pd.DataFrame([(*group, n) for group, n in groups.items()], columns=list(NOT_RUN_COLUMNS))


def _spec_of(case: str, specs: Container[str]) -> str:
    """The spec of a case: the longest of these names that begins its id; else the id without dtype and recipe."""
    parts = case.split("-")
    names = ("-".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))
    return next((name for name in names if name in specs), case.rsplit("-", 2)[0])
