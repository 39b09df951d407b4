"""Parquet: reads a table from a file that may be untrusted, after checking the memory that it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import types

from tf_opdiff.harness.store.formats import parquet_footer, untrusted

#: Bytes that a table may take in memory.
MOST = 2048 * untrusted.MIB


def _is_text(kind: pa.DataType) -> bool:
    of = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(of) or types.is_large_string(of) or types.is_null(of)  # the last in a table without rows


#: The kinds of columns, and the test whether an Arrow type is of that kind.
KINDS: dict[str, Callable[[Any], bool]] = {
    "texts": _is_text,
    "integers": types.is_integer,
    "floats": types.is_floating,
    "bytes": types.is_binary,
    "lists of integers": lambda kind: types.is_list(kind) and types.is_integer(kind.value_type),
}


def read(
    path: Path, columns: Mapping[str, str], *, nullable: Collection[str] = (), least: int = 0, most: int = MOST
) -> pa.Table:
    """Reads the table in a file, with texts in dictionaries, if it has the expected columns.

    Args:
      path: the file.
      columns: name → kind of each column, one of `KINDS`, in order.
      nullable: the columns in which values may be missing.
      least: the number of columns that every file has; older files lack later ones. Further columns of newer files are
        left out.
      most: bytes of memory that the table may take.

    Raises:
      FileNotFoundError: the file does not exist.
      ValueError: the file is damaged, is a link, has other columns, or would take more memory.
    """
    with untrusted.opened(path, most) as file:
        _promised(path, file, most)
        try:
            names = _columns(path, pq.read_schema(file), columns, least or len(columns))
            words = [name for name in names if columns[name] in ("texts", "bytes")]
            table = pq.ParquetFile(file, read_dictionary=words, page_checksum_verification=True).read(names)
            _taken(path, table, most)
            table.validate(full=True)
            table = table.unify_dictionaries().replace_schema_metadata()  # which says how pandas is to read it
        except (pa.ArrowException, ValueError, OSError, KeyError, TypeError, MemoryError) as why:
            if str(why).startswith(f"{path}: "):
                raise
            raise ValueError(f"{path} is damaged ({' '.join(str(why).split())})") from why
    whole = [name for name in names if name not in nullable and columns[name] != "floats"]  # there, NaN is such a value
    if lacking := [name for name in whole if table.column(name).null_count]:
        raise ValueError(f"{path}: column {lacking[0]}: expected a value in each row")
    return table


def rows_by_cell(table: pa.Table, rows: np.ndarray | None = None) -> dict[tuple[str, str, str], np.ndarray]:
    """The numbers of the rows of each cell (case, device, mode), in order; only of these `rows`, if they are given."""
    rows = np.arange(table.num_rows) if rows is None else rows
    if not rows.size:
        return {}
    key, names = np.zeros(table.num_rows, np.int64), []
    for column in (table.column(name) for name in ("case", "device", "mode")):
        words = (column if types.is_dictionary(column.type) else column.dictionary_encode()).combine_chunks()
        names.append((words.dictionary.to_pylist(), words.indices.to_numpy()))
        key = key * len(words.dictionary) + names[-1][1]
    order = rows[np.argsort(key[rows], kind="stable")]
    parts = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
    cells = zip(*([words[code] for code in codes[[p[0] for p in parts]]] for words, codes in names), strict=True)
    return dict(zip(cells, parts, strict=True))


def _columns(path: Path, schema: pa.Schema, columns: Mapping[str, str], least: int) -> list[str]:
    """The expected columns that the file has."""
    names = schema.names[: len(columns)]
    if names != list(columns)[: len(names)] or len(names) < least:
        raise ValueError(f"{path}: has the columns {', '.join(schema.names)}; expected {', '.join(columns)}")
    for name in names:
        if not KINDS[columns[name]](schema.field(name).type):
            raise ValueError(f"{path}: column {name}: expected {columns[name]}, got {schema.field(name).type}")
    return names


def _promised(path: Path, file: BinaryIO, most: int) -> None:
    """The table's size according to the file: the expanded bytes of each column, and 8 for each of its values."""
    try:
        takes = sum(8 * values + size for values, size in parquet_footer.sizes(file))
    except ValueError as why:
        raise ValueError(f"{path} is damaged: {why}") from why
    if takes > most:
        raise ValueError(f"{path}: would take {takes:,} bytes of memory; expected at most {most:,}")


def _taken(path: Path, table: pa.Table, most: int) -> None:
    """The table's size if each row has its own copy of a text that the file stores once for many rows."""
    takes = table.nbytes
    for chunk in (chunk for column in table.columns for chunk in column.chunks):
        if types.is_dictionary(chunk.type):
            sizes = pc.cast(pc.binary_length(chunk.dictionary), pa.int64())
            takes += pc.sum(sizes.take(chunk.indices)).as_py() or 0
    if takes > most:
        raise ValueError(f"{path}: would take {takes:,} bytes of memory; expected at most {most:,}")
