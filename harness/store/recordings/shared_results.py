"""Shared results: results of a recording's rows that are equal to those of its base, and stored there only.

Two rows of two recordings are the same row if they have the same case, mode, quantity and kind of rerun. Their results
are equal if every column of `RESULT` is equal in bits. If only an array differs, of as many bytes, the exclusive or of
both is stored: nearly all zeros where the last digits of floats differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tf_opdiff.harness.store.formats import parquet
from tf_opdiff.harness.store.recordings.recording_format import IN_BASE, RESULT, ROW

_BYTES = RESULT.index("bytes")


def omitted(table: pa.Table, base: pa.Table, where: str) -> pa.Table:
    """A recording's rows without the results that are equal in its base; `restored` gives the same rows back.

    Raises:
      ValueError: two rows of the base are the same row; the message names the place `where`.
    """
    index, results = _index(base, where), _tuples(base, RESULT)
    stored: list[int | None] = []
    arrays: list[bytes | None] = []
    for i, (row, result) in enumerate(zip(_tuples(table, ROW), _tuples(table, RESULT), strict=True)):
        same = row in index and result[0] is not None  # else there is no result
        change = _change(result, results[index[row]]) if same else None
        stored.append(i if change is None else None)
        arrays.append(result[_BYTES] if change is None else change or None)
    rows = pa.array(stored, pa.int64())
    columns = {name: table.column(name).take(rows) for name in RESULT}
    columns["status"] = pc.if_else(rows.is_null(), IN_BASE, columns["status"])
    columns["bytes"] = pa.array(arrays, pa.binary())
    return _with(table, columns)


def _change(result: tuple[Any, ...], base: tuple[Any, ...]) -> bytes | None:
    """The exclusive or of the arrays of two results, empty if they are equal; None if they differ in anything else."""
    ours, theirs = result[_BYTES], base[_BYTES]
    if ours == theirs:
        return b"" if result == base else None
    others = [(*row[:_BYTES], *row[_BYTES + 1 :]) for row in (result, base)]
    return _xor(ours, theirs) if others[0] == others[1] and len(ours or b"") == len(theirs or b"") else None


def _xor(a: bytes, b: bytes) -> bytes:
    return (np.frombuffer(a, np.uint8) ^ np.frombuffer(b, np.uint8)).tobytes()


def restored(table: pa.Table, base: pa.Table, where: str) -> pa.Table:
    """A recording's rows with the results that are stored in its base.

    Each row of the base gives its result to at most one row, so the table takes no more memory than both.

    Raises:
      ValueError: a row marked as stored in the base has a result, or is not in the base, or has another number of
        bytes; the rows of a table are not all different; or both tables take too much memory. The message names the
        place `where`.
    """
    if (takes := table.nbytes + base.nbytes) > parquet.MOST:
        raise ValueError(f"{where}: would take {takes:,} bytes with its base; expected at most {parquet.MOST:,}")
    marked = _marked(table)
    is_marked = marked.to_pylist()
    for name in [name for name in RESULT[1:] if name != "bytes"]:
        if (column := table.column(name).filter(marked)).null_count < len(column):
            raise ValueError(f"{where}: column {name}: expected no value in a row with the status {IN_BASE!r}")
    index, results = _index(base, f"{where}: its base"), []
    for row, i in _index(table, where).items():
        if is_marked[i]:
            if row not in index:
                raise ValueError(f"{where}: its base has no {_words(row)}")
            results.append(len(table) + index[row])
        else:
            results.append(i)
    both = pa.concat_tables([table.select(RESULT), base.select(RESULT)]).take(pa.array(results, pa.int64()))
    columns = {name: both.column(name) for name in RESULT}
    return _with(table, {**columns, "bytes": _changed(columns["bytes"], table.column("bytes"), marked, where)})


def _changed(arrays: pa.ChunkedArray, changes: pa.ChunkedArray, marked: pa.BooleanArray, where: str) -> pa.Array:
    """The arrays of restored rows: those of the base, changed where a marked row has a change.

    Raises:
      ValueError: a change has another number of bytes than the array; the message names the place `where`.
    """
    changed = pc.and_(marked, _whole(changes.is_valid()))
    pairs = list(zip(arrays.filter(changed).to_pylist(), changes.filter(changed).to_pylist(), strict=True))
    for array, change in pairs:
        if array is None or len(array) != len(change):
            raise ValueError(f"{where}: expected a change of {len(array or b'')} bytes, got {len(change)}")
    return pc.replace_with_mask(_whole(arrays), changed, pa.array([_xor(*pair) for pair in pairs], pa.binary()))


def _whole(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def without_base(table: pa.Table, where: str) -> pa.Table:
    """The rows of a recording that has no base.

    Raises:
      ValueError: a row is marked as stored in the base; the message names the place `where`.
    """
    if _marked(table).true_count:
        raise ValueError(f"{where}: rows have the status {IN_BASE!r}, but the recording names no base")
    return table


def _marked(table: pa.Table) -> pa.BooleanArray:
    """Which rows are marked as stored in the base."""
    marked: pa.BooleanArray = _whole(pc.fill_null(pc.equal(table.column("status"), IN_BASE), False))
    return marked


def _tuples(table: pa.Table, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def _index(table: pa.Table, where: str) -> dict[tuple[Any, ...], int]:
    """The number of each row, by the columns `ROW`."""
    index: dict[tuple[Any, ...], int] = {}
    for i, row in enumerate(_tuples(table, ROW)):
        if index.setdefault(row, i) != i:
            raise ValueError(f"{where}: expected each row once, got {_words(row)} twice")
    return index


def _words(row: tuple[Any, ...]) -> str:
    case, mode, quantity, again = row
    return f"{quantity} of {case} under {mode}{f' ({again})' if again else ''}"


def _with(table: pa.Table, columns: dict[str, Any]) -> pa.Table:
    """The table with other values in some of its columns."""
    for name, column in columns.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(name), column)
    return table
