"""Parquet footer: the sizes of a Parquet file's columns.

This module reads the footer because pyarrow ends the process if the footer of a damaged file lacks a column's metadata.
The layout is that of https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift, in Thrift's
compact protocol: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.
"""

from __future__ import annotations

from typing import Any, BinaryIO

_MAGIC = b"PAR1"
#: The deepest nesting of structures; Parquet's own structures nest six deep.
_DEEPEST = 16
#: The numbers of the fields to read: `FileMetaData.row_groups`, `RowGroup.columns`, `ColumnChunk.meta_data`,
#: `ColumnMetaData.num_values` and `.total_uncompressed_size`.
_ROW_GROUPS, _COLUMNS, _META, _VALUES, _SIZE = 4, 1, 3, 5, 6


def sizes(file: BinaryIO) -> list[tuple[int, int]]:
    """The number of values and the number of their expanded bytes, for each column in each row group.

    Raises:
      ValueError: the file has no such footer.
    """
    file.seek(0, 2)
    end = file.tell()
    file.seek(max(0, end - 8))
    tail = file.read()
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > end - 8:
        raise ValueError("it is no Parquet file, or was cut")
    file.seek(end - 8 - length)
    try:
        about = _Compact(file.read(length)).structure(0)
        chunks = [chunk[_META] for group in about[_ROW_GROUPS] for chunk in group[_COLUMNS]]
        sizes = [(chunk[_VALUES], chunk[_SIZE]) for chunk in chunks]
    except (IndexError, KeyError, TypeError) as why:
        raise ValueError("its footer is damaged") from why
    if not all(isinstance(n, int) and n >= 0 for pair in sizes for n in pair):
        raise ValueError("its footer is damaged")
    return sizes


class _Compact:
    """Bytes in Thrift's compact protocol: structures become dicts by the numbers of their fields."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def structure(self, deep: int) -> dict[int, Any]:
        if deep > _DEEPEST:
            raise IndexError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15, deep)
        return fields

    def _value(self, kind: int, deep: int) -> Any:
        if kind in (4, 5, 6):
            return self._signed()
        if kind in (1, 2, 3):  # a boolean in a list, or a byte
            return self._byte()
        if kind == 7:
            return self._skip(8)
        if kind == 8:
            return self._skip(self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            if count > len(self._data):  # each element takes a byte at least
                raise IndexError
            return [self._value(head & 15, deep + 1) for _ in range(count)]
        if kind == 12:
            return self.structure(deep + 1)
        raise TypeError(f"kind {kind}")  # a map: Parquet has none there

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _skip(self, count: int) -> None:
        self._at += count
        if self._at > len(self._data):
            raise IndexError

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value, shift = value | (byte & 127) << shift, shift + 7
            if shift > 63:
                raise IndexError
        return value | byte << shift

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)
