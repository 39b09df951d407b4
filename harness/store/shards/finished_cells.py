"""Finished cells: the results that the shards of a run have, and the records that its end needs, in little memory.

The end of a session counts cells and looks at places. It needs neither arrays nor the text of each match, so these are
skipped, and never become objects. `harness.store.shards.merged` reads everything, and checks the arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.rundir import shards
from tf_opdiff.harness.store.shards import line_types, read_lines, shard_arrays
from tf_opdiff.harness.store.shards.merged import Cell
from tf_opdiff.harness.store.shards.shard_records import texts

#: The verdicts of the records that cells keep.
KEPT = ("mismatch", "known")


class PlacedRow(msgspec.Struct, gc=False):
    """The place and the verdict of a record, under the names of `Record`."""

    tf: str = ""
    spec: str = ""
    dtype: str = ""
    attrs: str = ""
    recipe: str = ""
    device: str = ""
    mode: str = ""
    against: str = ""
    quantity: str = ""
    verdict: str = ""

    @property
    def plan(self) -> str:
        """The name of the record's plan, in the form of `against`."""
        return f"{self.device}/{self.mode}"


class _Line(msgspec.Struct):
    """The fields of all kinds of lines."""

    line: str
    case: str = ""
    device: str = ""
    mode: str = ""
    records: list[PlacedRow] = []
    items: list[str] = []
    why: str = ""


class _Observed(msgspec.Struct):
    """A result line's cell and observation."""

    line: str
    case: str = ""
    device: str = ""
    mode: str = ""
    observation: line_types.Observed = {}


@dataclass
class FinishedCells:
    """The cells of a run; if a cell has two lines of one kind, the last one counts.

    Attributes:
      items: the planned items.
      started: the cells with a `start` line.
      results, compared: the verdicts in the `result` and in the `compare` line of each cell.
      kept: the records of a cell with a verdict in `KEPT`, by the kind of line.
      damaged: the number of lines that are cut or damaged.
      lost: each item without a result in a campaign → the reason.
      cached: the workers' lines about the cache of inputs and promises.
    """

    items: set[str] = field(default_factory=set)
    started: set[Cell] = field(default_factory=set)
    results: dict[Cell, frozenset[str]] = field(default_factory=dict)
    compared: dict[Cell, frozenset[str]] = field(default_factory=dict)
    kept: dict[tuple[Cell, str], list[Record]] = field(default_factory=dict)
    damaged: int = 0
    lost: dict[str, str] = field(default_factory=dict)
    cached: list[dict[str, Any]] = field(default_factory=list)

    @cached_property
    def done(self) -> frozenset[Cell]:
        """The cells with both lines and a record."""
        return frozenset(cell for cell, verdicts in self.results.items() if verdicts and cell in self.compared)

    @property
    def verdicts(self) -> frozenset[str]:
        """The verdicts of all records of cells that have a result."""
        return frozenset().union(*self.results.values(), *(self.compared.get(cell, ()) for cell in self.results))

    @property
    def records(self) -> list[Record]:
        """The records with a verdict in `KEPT`, of cells that have a result."""
        lines = (self.kept.get((cell, kind), []) for cell in self.results for kind in ("result", "compare"))
        return [record for records in lines for record in records]


def read(directory: Path, visit: Callable[[PlacedRow], None] = lambda row: None) -> FinishedCells:
    """Reads every shard of a run; calls `visit` for each record.

    Raises:
      ValueError: a shard is a link, or an undamaged line has no such fields.
    """
    cells, decoder = FinishedCells(), msgspec.json.Decoder(_Line)
    for where, text in (line for path in shards(directory) for line in texts(path)):
        if text is None:
            cells.damaged += 1
            continue
        line: _Line = untrusted.decode(text, decoder, where)
        cell = (sys.intern(line.case), sys.intern(line.device), sys.intern(line.mode))
        match line.line:
            case "plan":
                cells.items.update(line.items)
            case "start":
                cells.started.add(cell)
            case "lost":
                cells.lost.update(dict.fromkeys(line.items, line.why))
            case "cache":
                cells.cached.append(untrusted.decode(text, line_types.Cached, where))
            case "result" | "compare":
                _end(cells, cell, line, text, where)
                for row in line.records:
                    visit(row)
    return cells


def _end(cells: FinishedCells, cell: Cell, line: _Line, text: bytes, where: str) -> None:
    """Enters the records of a cell's line."""
    verdicts = _shared(frozenset(row.verdict for row in line.records))
    (cells.results if line.line == "result" else cells.compared)[cell] = verdicts
    cells.kept.pop((cell, line.line), None)
    if not verdicts.isdisjoint(KEPT):
        whole = untrusted.decode(text, line_types.Ended, where)
        cells.kept[cell, line.line] = [Record.from_json(r) for r in whole["records"] if r.get("verdict") in KEPT]


@lru_cache(256)
def _shared(verdicts: frozenset[str]) -> frozenset[str]:
    """One object for all equal sets: most sets are equal."""
    return verdicts


def observations(directory: Path, cells: Collection[Cell]) -> dict[Cell, line_types.Observed]:
    """The observations in the result lines of some cells; those whose arrays can't be unpacked are left out.

    Raises:
      ValueError: a shard is a link, or an undamaged line of such a cell has another type.
    """
    quick, whole = msgspec.json.Decoder(_Line), msgspec.json.Decoder(_Observed)
    by_cell = {}
    for where, text in (line for path in shards(directory) for line in shard_arrays.texts(path)):
        if text is None:
            continue
        line: _Line = untrusted.decode(text, quick, where)
        cell = line.case, line.device, line.mode
        if line.line == "result" and cell in cells:
            observation = untrusted.decode(text, whole, where).observation
            if read_lines.sound(observation):
                by_cell[cell] = observation
    return by_cell
