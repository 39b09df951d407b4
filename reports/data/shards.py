"""Shards: the files that the workers of a run wrote, read into columns.

A run may have a million records, and most of their texts recur. So lines are read straight into columns that store each
distinct text once; other parts of a line are skipped and never become objects.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import count, islice
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import pandas as pd

from tf_opdiff.harness.store import rundir
from tf_opdiff.harness.store.error_profile import ErrorProfile
from tf_opdiff.harness.store.json_text import encodable
from tf_opdiff.harness.store.line_types import COLUMN_TYPES, SCHEMAS, ErrorsRow, Observed, sound
from tf_opdiff.harness.store.merged import Cell
from tf_opdiff.harness.store.record import COLUMNS, Record
from tf_opdiff.harness.store.shard import read_shard

#: Lines that are read at a time: about as many as fit into a processor's cache.
_BATCH = 256
INTEGERS = tuple(f.name for f in fields(Record) if f.type == "int")
FLOATS = tuple(f.name for f in fields(Record) if f.type == "float")
_CELL = ("case", "device", "mode")
_ROW = msgspec.defstruct(
    "_ROW",
    [(f.name, COLUMN_TYPES[str(f.type)], f.default) for f in fields(Record)],
    forbid_unknown_fields=True,
    gc=False,
)


class _Line(msgspec.Struct):
    """The parts of a line that are read: its kind, and the cell that it is about."""

    line: str
    case: str = ""
    device: str = ""
    mode: str = ""


class _Recorded(_Line):
    records: list[_ROW] = []  # type: ignore[valid-type]


class _Profiled(_Recorded):
    errors: dict[str, ErrorsRow] = {}


class _Observed(_Line):
    observation: Observed = {}


_L = TypeVar("_L", bound=_Line)


class _Texts:
    """A column of texts that stores each distinct text once."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}  # the first row of each text
        self._rows: list[np.ndarray] = []  # for each row, the first row of its text
        self._count = count()

    def extend(self, texts: Sequence[str]) -> None:
        """Appends rows."""
        self._rows.append(np.fromiter(map(self._first.setdefault, texts, self._count), np.int64, len(texts)))

    def done(self) -> pd.Categorical:
        """The column, its categories in order; lone surrogates, which UTF-8 can't encode, are written out."""
        texts = pd.Series(list(map(encodable, self._first)), dtype="str")
        codes, categories = pd.factorize(texts, sort=True)
        first_rows = np.concatenate([np.empty(0, np.int64), *self._rows])
        of_row = np.empty(len(first_rows), np.int64)
        of_row[list(self._first.values())] = codes
        return pd.Categorical.from_codes(of_row[first_rows], categories)


def records(run: Path) -> pd.DataFrame:
    """One row for each record, with the columns of `harness.store.record.COLUMNS`: categories, integers, floats.

    If a cell was run twice, its last lines count. The records of a `compare` line count only if the cell has a result;
    they come after the records of all results.

    Raises:
      ValueError: a line holds a malformed record.
    """
    texts = {f.name: _Texts() for f in fields(Record) if f.type == "str"}
    numbers: dict[str, Any] = {name: array("q" if name in INTEGERS else "d") for name in (*INTEGERS, *FLOATS)}
    cells = {name: _Texts() for name in _CELL}
    late, sizes = array("b"), array("q")
    stream = _lines(run, _Recorded, ("result", "compare"))
    while lines := list(islice(stream, _BATCH)):
        late.extend(line.line == "compare" for line in lines)
        sizes.extend(len(line.records) for line in lines)
        for name in _CELL:
            cells[name].extend([getattr(line, name) for line in lines])
        rows = [row for line in lines for row in line.records]
        for name, values in zip(COLUMNS, zip(*map(attrgetter(*COLUMNS), rows), strict=True), strict=False):
            if name in texts:
                texts[name].extend(values)
            else:
                numbers[name].extend(values if name in INTEGERS else map(float, values))
    frame = pd.DataFrame({name: texts[name].done() if name in texts else np.asarray(numbers[name]) for name in COLUMNS})
    return frame.iloc[_counting({name: cells[name].done() for name in _CELL}, np.asarray(late, bool), sizes)]


def _counting(cells: dict[str, pd.Categorical], late: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """The positions of the rows that count.

    Args:
      cells: the cell of each line.
      late: whether the line is a `compare` line.
      sizes: how many rows each line has.
    """
    cell = pd.DataFrame(cells).groupby(list(_CELL), observed=True).ngroup().to_numpy()
    last = ~pd.DataFrame({"cell": cell, "late": late}).duplicated(keep="last").to_numpy()
    counts = last & np.isin(cell, cell[~late])
    line = np.repeat(np.arange(len(cell)), sizes)
    return np.concatenate([np.flatnonzero((counts & ~late)[line]), np.flatnonzero((counts & late)[line])])


def observations(run: Path) -> dict[Cell, Observed]:
    """The observation in each cell's result line, cells in order. If a cell was run twice, its last line counts.

    Raises:
      ValueError: a line holds a malformed observation.
    """
    lines = _lines(run, _Observed, ("result",))
    by_cell = {(line.case, line.device, line.mode): line.observation for line in lines if sound(line.observation)}
    return dict(sorted(by_cell.items()))


def errors(run: Path) -> Iterator[tuple[Any, dict[str, ErrorProfile]]]:
    """The first record and the error profiles by quantity, of each cell that has profiles, cells in order.

    If a cell was run twice, its last result line counts.

    Raises:
      ValueError: a line holds a malformed record or profile.
    """
    by_cell: dict[Cell, tuple[list[Any], dict[str, ErrorProfile]]] = {}
    for line in _lines(run, _Profiled, ("result",)):
        with contextlib.suppress(ValueError):  # profiles that can't be read: the line is damaged
            profiles = {quantity: ErrorProfile.from_json(row) for quantity, row in line.errors.items()}
            by_cell[line.case, line.device, line.mode] = line.records, profiles
    for _, (rows, profiles) in sorted(by_cell.items(), key=itemgetter(0)):
        if profiles and rows:
            yield rows[0], profiles


def _lines(run: Path, as_: type[_L], kinds: Sequence[str]) -> Iterator[_L]:
    """The whole lines of these kinds, in the order in which merging reads them.

    A line that begins with another kind, as each line of ours begins with its kind, is not decoded.
    """
    others = tuple(b'{"line":"%s",' % kind.encode() for kind in SCHEMAS if kind not in kinds)
    for path in rundir.shards(run):
        yield from (line for line in read_shard(path, as_, skip=others) if line is not None and line.line in kinds)
