"""Merged: the lines of all shards of one run, or of several runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.rundir import shards
from tf_opdiff.harness.store.shards import read_lines

Cell = tuple[str, str, str]  # case id, device, mode


@dataclass(frozen=True)
class Merged:
    """The lines of all shards of a run, by cell.

    `results` maps each cell to its result line, with the observation and the records against NumPy. `compared` maps it
    to the line with its records against other plans. `records` of both are `Record`s. A cell is done if it has both
    lines and a record. If a cell has two lines of one kind, the last one counts. `seconds` maps each item to its
    duration, `lost` each item without a result in a campaign to the reason. `cached` are the workers' lines about the
    cache of inputs and promises.
    """

    items: frozenset[str]
    started: frozenset[Cell]
    results: dict[Cell, dict[str, Any]]
    compared: dict[Cell, dict[str, Any]]
    damaged: int
    seconds: dict[str, float]
    lost: dict[str, str]
    cached: tuple[dict[str, Any], ...] = ()

    @property
    def records(self) -> list[Record]:
        lines = (line for cell in self.results for line in (self.results[cell], self.compared.get(cell)) if line)
        return [record for line in lines for record in line["records"]]

    @cached_property
    def done(self) -> frozenset[Cell]:
        """The cells that are done; made once, because a resumed run asks for each of its items."""
        return frozenset(cell for cell, line in self.results.items() if line["records"] and cell in self.compared)

    def only(self, cases: Collection[str]) -> Merged:
        """A copy without the results of other cases."""
        results, compared = (
            {cell: line for cell, line in lines.items() if cell[0] in cases} for lines in (self.results, self.compared)
        )
        return replace(self, results=results, compared=compared)

    def records_of(self, cells: Iterable[Cell]) -> list[Record] | None:
        """The records of some cells; None if one of the cells is not done."""
        wanted = list(cells)
        if not self.done.issuperset(wanted):
            return None
        return [r for lines in (self.results, self.compared) for cell in wanted for r in lines[cell]["records"]]


def merge(directories: Iterable[Path]) -> Merged:
    """Reads every shard of the given runs; reading a shard twice changes nothing.

    Raises:
      ValueError: a shard is a link, or an undamaged line does not have its type in `harness.store.shards.line_types`.
    """
    items: set[str] = set()
    started: set[Cell] = set()
    results: dict[Cell, dict[str, Any]] = {}
    compared: dict[Cell, dict[str, Any]] = {}
    seconds: dict[str, float] = {}
    lost: dict[str, str] = {}
    cached: list[dict[str, Any]] = []
    damaged = 0
    for line in (line for path in sorted(p for d in directories for p in shards(d)) for line in read_lines.read(path)):
        if line is None:
            damaged += 1
        elif line["line"] == "plan":
            items.update(line["items"])
        elif line["line"] == "start":
            started.add((line["case"], line["device"], line["mode"]))
        elif line["line"] == "item":
            seconds[line["item"]] = line["seconds"]
        elif line["line"] == "lost":
            lost.update(dict.fromkeys(line["items"], line["why"]))
        elif line["line"] == "cache":
            cached.append(line)
        elif line["line"] in ("result", "compare"):
            into = results if line["line"] == "result" else compared
            line["records"] = [Record.from_json(row) for row in line["records"]]
            line.setdefault("observation", {})
            line.pop("errors", None)  # `reports.data.run_data.shards` reads error profiles
            into[line["case"], line["device"], line["mode"]] = line
    return Merged(frozenset(items), frozenset(started), results, compared, damaged, seconds, lost, tuple(cached))
