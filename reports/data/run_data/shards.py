"""Shards: the files that the workers of a run wrote, read into columns.

A run may have a million records, and most of their texts recur. So lines are read straight into Arrow's columns, whose
parts store each distinct text once; other parts of a line are skipped and never become objects.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tf_opdiff.harness.store.formats.json_text import encodable
from tf_opdiff.harness.store.records.error_profile import ErrorProfile
from tf_opdiff.harness.store.records.record import COLUMNS, Record
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.shards import shard_arrays, shard_records
from tf_opdiff.harness.store.shards.line_types import COLUMN_TYPES, SCHEMAS, ErrorsRow, Observed
from tf_opdiff.harness.store.shards.merged import Cell
from tf_opdiff.harness.store.shards.read_lines import sound
from tf_opdiff.harness.store.shards.shard import Texts, read_shard

#: Lines that are read at a time: about as many as fit into a processor's cache.
_BATCH = 256
#: Rows of a part of a column, until which its texts are Python objects.
_PART = 4096
#: The columns whose texts recur in many records.
CATEGORIES = (
    *("run", "started", "tf", "cuda", "host", "suite", "spec", "raw_op", "case", "dtype", "recipe", "device", "mode"),
    *("ran_on", "against", "quantity", "verdict", "kind", "owner", "cause", "status", "code", "attrs", "severity"),
    "kinds",
)
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
    """A column of texts. Each part of its rows is an array of Arrow's that stores a distinct text once."""

    def __init__(self) -> None:
        self._parts: list[pa.DictionaryArray] = []
        self._rows: list[str] = []

    def extend(self, texts: Iterable[str]) -> None:
        """Appends rows."""
        self._rows.extend(texts)
        if len(self._rows) >= _PART:
            self._end_part()

    def _end_part(self) -> None:
        try:
            texts = pa.array(self._rows, pa.large_string())
        except UnicodeEncodeError:
            texts = pa.array(map(encodable, self._rows), pa.large_string())
        self._parts.append(texts.dictionary_encode())
        self._rows.clear()

    def done(self) -> pd.Categorical:
        """The column, its categories in order; lone surrogates, which UTF-8 can't encode, are written out."""
        code_of_row, texts = self._whole()
        order = pc.sort_indices(texts)  # of UTF-8's bytes, which is that of characters
        place = np.empty(len(texts), np.int32)
        place[order.to_numpy()] = np.arange(len(texts), dtype=np.int32)
        return pd.Categorical.from_codes(place[code_of_row], pd.Index(texts.take(order).to_pandas(), dtype="str"))

    def plain(self) -> pd.Series:
        """The column as texts; lone surrogates are written out."""
        code_of_row, texts = self._whole()
        return pd.Series(texts.take(pa.array(code_of_row)).to_pandas(), dtype="str")

    def _whole(self) -> tuple[np.ndarray, pa.Array]:
        """For each row the position of its text, and the distinct texts."""
        self._end_part()
        column = pa.chunked_array(self._parts).unify_dictionaries()
        self._parts.clear()
        return np.concatenate([part.indices.to_numpy() for part in column.chunks]), column.chunk(0).dictionary


def records(run: Path) -> pd.DataFrame:
    """One row for each record, with the columns of `harness.store.records.record.COLUMNS`.

    Those of `CATEGORIES` are categories in order, and the others texts, integers and floats. If a cell was run twice,
    its last lines count. The records of a `compare` line count only if the cell has a result; they come after the
    records of all results.

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
            cells[name].extend(getattr(line, name) for line in lines)
        rows = [row for line in lines for row in line.records]
        for name, values in zip(COLUMNS, zip(*map(attrgetter(*COLUMNS), rows), strict=True), strict=False):
            if name in texts:
                texts[name].extend(values)
            else:
                numbers[name].extend(values if name in INTEGERS else map(float, values))
    counting = _counting({name: cells[name].done() for name in _CELL}, np.asarray(late, bool), sizes)
    columns: dict[str, Any] = {}
    for name in COLUMNS:  # the parts of a column go before the next column is made
        if name in texts:
            column = texts.pop(name)
            series = pd.Series(column.done()) if name in CATEGORIES else column.plain()
        else:
            series = pd.Series(np.asarray(numbers.pop(name)))
        columns[name] = series.take(counting).reset_index(drop=True)
    return pd.DataFrame(columns, copy=False)


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
    lines = _lines(run, _Observed, ("result",), shard_arrays.texts)
    by_cell = {(line.case, line.device, line.mode): line.observation for line in lines if sound(line.observation)}
    return dict(sorted(by_cell.items()))


def errors(run: Path) -> Iterator[tuple[Any, dict[str, ErrorProfile]]]:
    """The first record and the error profiles by quantity, of each cell that has profiles, cells in order.

    If a cell was run twice, its last result line counts.

    Raises:
      ValueError: a line holds a malformed record or profile.
    """
    by_cell: dict[Cell, tuple[Any, dict[str, ErrorProfile]]] = {}
    for line in _lines(run, _Profiled, ("result",)):
        with contextlib.suppress(ValueError):  # profiles that can't be read: the line is damaged
            profiles = {quantity: ErrorProfile.from_json(row) for quantity, row in line.errors.items()}
            cell = line.case, line.device, line.mode
            if profiles and line.records:
                by_cell[cell] = line.records[0], profiles
            else:
                by_cell.pop(cell, None)
    for _, profiles_of_cell in sorted(by_cell.items(), key=itemgetter(0)):
        yield profiles_of_cell


def _lines(run: Path, as_: type[_L], kinds: Sequence[str], texts: Texts = shard_records.texts) -> Iterator[_L]:
    """The whole lines of these kinds, in the order in which merging reads them; `texts` reads a shard.

    A line that begins with another kind, as each line of ours begins with its kind, is not decoded.
    """
    others = tuple(b'{"line":"%s",' % kind.encode() for kind in SCHEMAS if kind not in kinds)
    for path in rundir.shards(run):
        lines = read_shard(path, as_, skip=others, texts=texts)
        yield from (line for line in lines if line is not None and line.line in kinds)
