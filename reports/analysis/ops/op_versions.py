"""Op versions: the verdicts on an op under several TensorFlow versions, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.processor import described
from tf_opdiff.reports.analysis.ops.op_cells import quantity_order
from tf_opdiff.reports.analysis.ops.op_store import worst_verdicts
from tf_opdiff.reports.analysis.ops.op_view import dtype_order
from tf_opdiff.reports.text.sentences.sentence import number
from tf_opdiff.reports.text.verdicts import SEVERITY

#: The columns that say which result a row is.
_PLACE = ["tf", "device", "spec", "dtype", "quantity", "mode"]


@dataclass(frozen=True)
class VersionColumn:
    """A TensorFlow version on a device.

    Attributes:
      tf, device: the version and the device.
      origins: when and where the results are from: the date with the runs, and the machine.
      own: whether the results are this run's.
    """

    tf: str
    device: str
    origins: tuple[tuple[str, str], ...]
    own: bool


@dataclass(frozen=True)
class VersionCell:
    """The worst verdict and the largest distance in ULPs; NaN without a distance."""

    verdict: str
    max_ulp: float


@dataclass(frozen=True)
class VersionRow:
    """One quantity in one dtype: a cell for each column, None where the version has no result."""

    quantity: str
    dtype: str
    cells: list[VersionCell | None]

    @property
    def same(self) -> bool:
        """Whether all columns show the same."""
        return len({cell and (cell.verdict, number(cell.max_ulp)) for cell in self.cells}) == 1


@dataclass(frozen=True)
class VersionTable:
    """The table of one op."""

    columns: list[VersionColumn]
    rows: list[VersionRow]


class OpVersions:
    """The verdicts of other runs, and of this one, from which the table of each op is made."""

    def __init__(self, records: pd.DataFrame, info: RunInfo, stored: pd.DataFrame) -> None:
        """Takes the records of this run, and those of others as `reports.analysis.ops.op_store.stored_ops` gives
        them."""
        specs = set(stored["spec"]) & set(records["spec"])
        own = worst_verdicts(records[records["spec"].isin(specs)]) if specs else stored[:0]
        where = {"made": f"{info.started}, run {info.run}", "machine": described(info.machine) or info.host}
        self._by_spec: dict[str, list[tuple[VersionColumn, str, str, str, VersionCell]]] = {}
        self._order: dict[VersionColumn, int] = {}
        for table, ours in ((stored, False), (own.assign(**where), True)):
            columns = _columns(table, own=ours)
            self._order |= {column: len(self._order) + i for i, column in enumerate(columns.values())}
            shown = table.loc[table["spec"].isin(specs), [*_PLACE, "verdict", "max_ulp"]]
            for tf, device, spec, *place, verdict, ulp in shown.itertuples(index=False):
                row = (columns[tf, device], *place, VersionCell(verdict, ulp))
                self._by_spec.setdefault(spec, []).append(row)

    def table(self, specs: Iterable[str]) -> VersionTable | None:
        """The table of some specs; None without results of both this run and others.

        A cell is the worst over the specs and modes that all versions with this quantity and dtype have.
        """
        results: dict[tuple[str, str], dict[VersionColumn, dict[tuple[str, str], VersionCell]]] = {}
        for spec in specs:
            for column, dtype, quantity, mode, cell in self._by_spec.get(spec, ()):
                results.setdefault((dtype, quantity), {}).setdefault(column, {})[spec, mode] = cell
        results = {key: cells for key, cells in results.items() if len({column.own for column in cells}) == 2}
        used = {column for cells in results.values() for column in cells}
        columns = sorted(used, key=lambda column: (column.own, self._order[column]))
        rows = []
        for dtype, quantity in sorted(results, key=lambda key: (dtype_order(key[0]), quantity_order(key[1]))):
            cells = results[dtype, quantity]
            shared = set.intersection(*map(set, cells.values()))
            if shared:
                row = [_worst([cells[c][key] for key in shared]) if c in cells else None for c in columns]
                rows.append(VersionRow(quantity, dtype, row))
        return VersionTable(columns, rows) if rows else None


def _columns(table: pd.DataFrame, *, own: bool) -> dict[tuple[str, str], VersionColumn]:
    """The columns of a table by version and device, with all origins of each."""
    origins: dict[tuple[str, str], list[tuple[str, str]]] = {}
    distinct = table[["tf", "device", "made", "machine"]].drop_duplicates()
    for tf, device, *origin in distinct.itertuples(index=False):
        origins.setdefault((tf, device), []).append(tuple(origin))
    return {key: VersionColumn(*key, tuple(each), own) for key, each in origins.items()}


def _worst(cells: Sequence[VersionCell]) -> VersionCell:
    verdict = min((cell.verdict for cell in cells), key=SEVERITY.index)
    return VersionCell(verdict, max((c.max_ulp for c in cells if not math.isnan(c.max_ulp)), default=math.nan))
