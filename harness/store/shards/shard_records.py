"""Shard records: the records that compressed shards leave to `records.parquet`, which has them anyway.

Such a line has a text in place of its records: the CRC-32 of their JSON, the number of their columns, and their places
among the rows of the line's cell, as in `"records":"1f2e3d4c 41 0,2"`. `texts` gives the line with its records.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.records.record import ADDED, COLUMNS, Record
from tf_opdiff.harness.store.run_directories.rundir import RECORDS
from tf_opdiff.harness.store.shards import compressed, shard

_Cell = tuple[str, str, str]
_COLUMNS = {f.name: {"str": "texts", "int": "integers", "float": "floats"}[str(f.type)] for f in fields(Record)}
#: How a list of records begins and ends in the text of a line, and how one begins behind another. A text in JSON has no
#: quotation marks of its own; where a text ends like a list, the line stays whole.
_BEGIN, _END, _NEXT = b'"records":[{"run":', b'"}]', b'},{"run":'
_LEFT = b'"records":"'
_MARK = re.compile(rb'"records":"([0-9a-f]{8}) (\d{1,3}) (\d{1,9}(?:,\d{1,9})*)"')


class _Place(msgspec.Struct):
    case: str = ""
    device: str = ""
    mode: str = ""


class Records:
    """The records in the `records.parquet` of a run, read when they are first used."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._decoder = msgspec.json.Decoder(_Place)
        self._texts_of = lru_cache(256)(self._texts)

    @cached_property
    def _table(self) -> Any:
        from tf_opdiff.harness.store.formats import parquet  # only a run with such shards needs pyarrow

        path = untrusted.inside(self._run, RECORDS)
        try:
            return parquet.read(path, _COLUMNS, least=len(COLUMNS) - len(ADDED))
        except FileNotFoundError as why:
            raise ValueError(f"{path}: expected this file, which holds the records of the run's shards") from why

    @cached_property
    def _rows(self) -> dict[_Cell, np.ndarray]:
        """The rows of each cell, in order."""
        from tf_opdiff.harness.store.formats import parquet

        return parquet.rows_by_cell(self._table)

    @cached_property
    def _pieces(self) -> tuple[list[list[bytes]], np.ndarray]:
        """The JSON of the distinct fields of each column; and for each row and column, which of them it has."""
        pieces, codes = [], np.empty((self._table.num_rows, self._table.num_columns), np.int32)
        for number, name in enumerate(self._table.column_names):
            distinct, codes[:, number] = _distinct(self._table.column(name), _COLUMNS[name])
            pieces.append([b'"%s":%s' % (name.encode(), value.encode()) for value in distinct])
        return pieces, codes

    def _texts(self, cell: _Cell, count: int) -> list[bytes]:
        """The JSON of each record of a cell, with its first `count` columns."""
        rows = self._rows.get(cell)
        if rows is None:
            return []
        pieces, codes = self._pieces
        return [
            b"{" + b",".join([of[code] for of, code in zip(pieces, row, strict=False)]) + b"}"
            for row in codes[rows, :count].tolist()
        ]

    def _cell(self, text: bytes, where: str) -> _Cell:
        place = untrusted.decode(text, self._decoder, where)
        return place.case, place.device, place.mode

    def taken_out(self, line: bytes) -> bytes:
        """The line of a shard without its records, if they are those of its cell in the file; else the same line."""
        text = line[9:-1]
        begin = text.find(_BEGIN)
        end = text.find(_END, begin)
        if begin < 0 or end < 0 or line != shard.checked(text):
            return line
        before, rest = text[:begin], text[end + len(_END) :]
        records = text[begin + len(_LEFT) - 1 : end + len(_END)]
        first, *others = records[1:-2].split(_NEXT)
        count = len(self._table.column_names)
        place_of = {row: place for place, row in enumerate(self._texts_of(self._cell(text, ""), count))}
        places = [place_of.get(row + b"}") for row in (first, *(b'{"run":' + other for other in others))]
        if None in places:
            return line
        mark = b'"records":"%08x %d %s"' % (zlib.crc32(records), count, ",".join(map(str, places)).encode())
        shorter = before + mark + rest
        return shard.checked(shorter) if self._filled(shorter, "") == text else line

    def filled(self, text: bytes, where: str) -> bytes:
        """The JSON of a line with the records that `taken_out` left out.

        Raises:
          ValueError: the file is not there, is damaged, or has other records.
        """
        whole = self._filled(text, where)
        if whole is None:
            raise ValueError(f"{where}: expected its records in {self._run / RECORDS}, got those of another run")
        return whole

    def _filled(self, text: bytes, where: str) -> bytes | None:
        if not (mark := _MARK.search(text)):
            return text
        places = [int(place) for place in mark[3].split(b",")]
        rows = self._texts_of(self._cell(text, where), int(mark[2]))
        if max(places) >= len(rows) or len(set(places)) < len(places):
            return None
        records = b"[%s]" % b",".join([rows[place] for place in places])
        if b"%08x" % zlib.crc32(records) != mark[1]:
            return None
        return text[: mark.start()] + b'"records":' + records + text[mark.end() :]


def _distinct(column: Any, kind: str) -> tuple[list[str], np.ndarray]:
    """The distinct values of a column as JSON, and for each row the position of its value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "floats":
        column = pc.fill_null(column, math.nan)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.combine_chunks()
    values, codes = column.dictionary.to_pylist(), column.indices.to_numpy()
    if kind == "texts":
        return [json.dumps(value) for value in values], codes
    return json_of(values, separators=(",", ":"))[1:-1].split(","), codes


def texts(path: Path, *, texts: shard.Texts = shard.texts) -> Iterator[tuple[str, bytes | None]]:
    """The lines that another function `texts` gives, with the records that the shard leaves to `records.parquet`.

    Raises:
      OSError: the shard can't be opened.
      ValueError: the shard is a link or not a file, or the file with its records is missing or of another run.
    """
    return compressed.filled(path, texts, _LEFT, Records(path.parent.parent).filled)
