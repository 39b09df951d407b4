"""Searched: the largest errors that searches found, in a CSV file for each device, in the folder of an atlas.

A file is named as recordings are: `cpu@2.21.0.csv`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import read_lines
from tf_opdiff.harness.system.processor import described
from tf_opdiff.reports.data.run_data import files

#: The columns of a file; one sentence for each.
COLUMNS: Mapping[str, str] = {
    "spec": "The name of the spec.",
    "raw_op": "The covered OpDefs that the executed graphs contain, joined by `;`.",
    "dtype": "The dtype of the inputs.",
    "attrs": "The label of the keyword arguments. Empty where the spec has no such labels.",
    "device": "The device of the plan.",
    "mode": "The mode of the plan.",
    "quantity": "The result: `output[i]` or `grad[i]`.",
    "same_bits": "Later modes, joined by `;`, whose results have the same bits on each of `same_inputs` inputs.",
    "same_inputs": "The number of inputs on which the bits of the modes were compared: the worst ones of all plans.",
    "tf": "The version of TensorFlow.",
    "processor": "The processor: its name, its model and its instruction sets.",
    "date": "The day on which the search began.",
    "descents": "The number of descents.",
    "tried": "The number of inputs tried.",
    "max_ulp": "The largest distance found, in ULPs of the result, from a promise in wide numbers.",
    "worst": "The bit patterns of its inputs, joined by `;`.",
    "got": "The result there.",
    "want": "The promise there, rounded to the dtype.",
    "wrong": "An input for each wrong class of a result that was found: `kind` and bit patterns, joined by `;`.",
    "guide": "The largest difference in ULPs between an estimate that led the search and its promise in wide numbers.",
}
INTEGERS = ("same_inputs", "descents", "tried")
FLOATS = ("max_ulp", "guide")
PLACE = ("spec", "dtype", "attrs", "device", "mode", "quantity")
SUFFIX = ".csv"
#: The modes in whose order rows stand for others with the same bits.

Row = dict[str, Any]


def rows(runs: Sequence[Path]) -> list[Row]:
    """The rows of the searches of runs.

    Raises:
      FileNotFoundError: the directory of a run does not exist.
      ValueError: a shard is damaged.
    """
    rows: dict[tuple[str, ...], Row] = {}
    for run in runs:
        info = RunInfo.load(run)
        facts = {"tf": info.tf, "processor": described(info.machine), "date": info.started[:10]}
        for line in _lines(run):
            wrong = " ".join(";".join([kind, *inputs]) for kind, inputs in sorted(line["wrong"].items()))
            texts = {"worst": ";".join(line["worst"]), "wrong": wrong}
            numbers = {name: float(line[name]) for name in FLOATS}
            rows[tuple(line[name] for name in PLACE)] = {**line, **facts, **texts, **numbers}
    return _joined(rows.values())


def _lines(run: Path) -> Iterator[Row]:
    """The lines of the searches of a run."""
    for shard in rundir.shards(run):
        yield from (line for line in read_lines.read(shard) if line and line["line"] == "searched")


def _joined(lines: Iterable[Row]) -> list[Row]:
    """The rows of some lines; modes with the same bits on the worst inputs share the row of the first of them."""
    order = sorted(lines, key=lambda row: (*(row[name] for name in PLACE if name != "mode"), row["mode"]))
    joined: dict[tuple[Any, ...], Row] = {}
    for line in order:
        place = tuple(line[name] for name in (*PLACE, "checksum", "same") if name != "mode")
        if place not in joined:
            joined[place] = {**line, "same_bits": "", "same_inputs": 0}
        else:
            first = joined[place]
            first["same_bits"] = ";".join(filter(None, [first["same_bits"], line["mode"]]))
            first["same_inputs"] = line["same"]
            if line["tried"] > first["tried"]:  # this mode led the search, the first one ran its worst inputs only
                first |= {name: line[name] for name in ("tried", "max_ulp", "worst", "got", "want", "wrong")}
    return [{name: row[name] for name in COLUMNS} for row in joined.values()]


def merged(tables: Iterable[Iterable[Row]]) -> list[Row]:
    """One table of several: of each place, the rows of the last table that has its spec, dtype, attrs and device."""
    programs: dict[tuple[str, ...], list[Row]] = {}
    for table in tables:
        fresh: dict[tuple[str, ...], list[Row]] = {}
        for row in table:
            fresh.setdefault(tuple(row[name] for name in PLACE[:4]), []).append(row)
        programs |= fresh
    return [row for program in sorted(programs) for row in programs[program]]


def load(folder: Path | str) -> dict[str, list[Row]]:
    """The tables of a folder by the names of their files, such as `cpu@2.21.0`.

    Raises:
      ValueError: a file is not UTF-8, or has other columns or numbers.
    """
    tables = {}
    for path in sorted(Path(folder).glob(f"*{SUFFIX}")):
        with path.open(newline="") as file:
            try:
                reader = csv.DictReader(file)
                if tuple(reader.fieldnames or ()) != tuple(COLUMNS):
                    raise ValueError(f"has the columns {reader.fieldnames}; expected {', '.join(COLUMNS)}")
                tables[path.name.removesuffix(SUFFIX)] = [_typed(row) for row in reader]
            except (ValueError, TypeError, csv.Error) as why:
                raise ValueError(f"{path}: {why}") from why
    return tables


def _typed(row: Mapping[str, str]) -> Row:
    numbers = {name: int(row[name]) for name in INTEGERS} | {name: float(row[name]) for name in FLOATS}
    return {**row, **numbers}


def store(table: Sequence[Row], folder: Path) -> list[Path]:
    """Adds rows to the files of their devices and versions of TensorFlow; returns these files."""
    folder.mkdir(parents=True, exist_ok=True)
    before, paths = load(folder), []
    names = dict.fromkeys(f"{row['device']}@{row['tf']}" for row in table)
    for name in names:
        mine = [row for row in table if f"{row['device']}@{row['tf']}" == name]
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(COLUMNS), lineterminator="\n")
        writer.writeheader()
        writer.writerows(merged([before.get(name, []), mine]))
        files.replace_text(folder / f"{name}{SUFFIX}", text.getvalue())
        paths.append(folder / f"{name}{SUFFIX}")
    return paths
