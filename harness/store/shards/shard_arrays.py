"""Shard arrays: the arrays that compressed shards leave to `observations.parquet`, which has them anyway.

Such a line has an empty text in place of an array's data: `"data":""`. `texts` gives the line with its arrays.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.run_directories.rundir import OBSERVATIONS
from tf_opdiff.harness.store.shards import compressed, shard

_Cell = tuple[str, str, str]
#: The first columns of `observations.parquet`.
_COLUMNS = dict.fromkeys(("case", "device", "mode", "quantity", "status", "dtype"), "texts") | {
    "shape": "lists of integers",
    "bytes": "bytes",
}
#: How the results of a run begin and end in the text of a line, as `harness.store.shards.shard.Shard` writes it. A
#: text in JSON has no quotation marks of its own, so these patterns fit nothing else.
_RESULT, _BEGIN, _AGAIN = b'{"line":"result",', b'"observation":{"quantities":{', b',"again":{'
_ARRAY = re.compile(rb'("value":\{"dtype":"\w+","shape":\[[\d, ]*\],"data":)"([A-Za-z0-9+/=]+)"')
_EMPTY = b'"data":""'


class _Place(msgspec.Struct):
    case: str = ""
    device: str = ""
    mode: str = ""


class Arrays:
    """The arrays in the `observations.parquet` of a run, read when they are first used."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._packed: dict[int, bytes] = {}
        self._decoder = msgspec.json.Decoder(_Place)

    @cached_property
    def _column(self) -> Any:
        """The bytes of each row: Arrow's array, which stores equal ones once."""
        return self._table.column("bytes").combine_chunks()

    @cached_property
    def _table(self) -> Any:
        from tf_opdiff.harness.store.formats import parquet  # only a run with such shards needs pyarrow

        path = untrusted.inside(self._run, OBSERVATIONS)
        try:
            return parquet.read(path, _COLUMNS, nullable=("shape", "bytes"))
        except FileNotFoundError as why:
            raise ValueError(f"{path}: expected this file, which holds the arrays of the run's shards") from why

    @cached_property
    def _rows(self) -> dict[_Cell, np.ndarray]:
        """The rows of each cell that have an array, in order."""
        from tf_opdiff.harness.store.formats import parquet

        return parquet.rows_by_cell(self._table, np.flatnonzero(self._column.is_valid().to_numpy(zero_copy_only=False)))

    def _packed_of(self, text: bytes, where: str) -> list[bytes]:
        """The data of the arrays of a line's cell, packed as `harness.device.observation.pack` does."""
        place = untrusted.decode(text, self._decoder, where)
        rows = self._rows.get((place.case, place.device, place.mode))
        return [] if rows is None else [self._pack(row) for row in rows.tolist()]

    def _pack(self, row: int) -> bytes:
        number = self._column.indices[row].as_py()
        if number not in self._packed:
            self._packed[number] = base64.b64encode(zlib.compress(self._column.dictionary[number].as_py()))
        return self._packed[number]

    def taken_out(self, line: bytes) -> bytes:
        """The line of a shard without its arrays, if they are those of its cell in the file; else the same line."""
        text = line[9:-1]
        if not text.startswith(_RESULT) or line != shard.checked(text):
            return line
        begin = text.find(_BEGIN)
        if begin < 0:
            return line
        results, again, rest = text[begin:].partition(_AGAIN)
        shorter = text[:begin] + _ARRAY.sub(rb'\1""', results) + again + rest
        return shard.checked(shorter) if self._filled(shorter, "") == text else line

    def filled(self, text: bytes, where: str) -> bytes:
        """The JSON of a line with the arrays that `taken_out` left out.

        Raises:
          ValueError: the file is not there, is damaged, or has other arrays.
        """
        whole = self._filled(text, where)
        if whole is None:
            raise ValueError(f"{where}: expected its arrays in {self._run / OBSERVATIONS}, got those of another run")
        return whole

    def _filled(self, text: bytes, where: str) -> bytes | None:
        parts = text.split(_EMPTY)
        packed = self._packed_of(text, where) if len(parts) > 1 else []
        if len(packed) != len(parts) - 1:
            return None
        return parts[0] + b"".join(b'"data":"%s"%s' % pair for pair in zip(packed, parts[1:], strict=True))


def texts(path: Path) -> Iterator[tuple[str, bytes | None]]:
    """The lines that `harness.store.shards.shard.texts` gives, with the arrays of `observations.parquet`.

    Raises:
      OSError: the shard can't be opened.
      ValueError: the shard is a link or not a file, or the file with its arrays is missing or of another run.
    """
    return compressed.filled(path, shard.texts, _EMPTY, Arrays(path.parent.parent).filled)
