"""Shard: a file to which a worker appends lines.

A shard holds one JSON object a line behind its CRC-32, so that a line which was cut or damaged is recognised:
`plan` lines name the selected items; `start` and `result` lines stand around each run of a case under a plan, and a
`compare` line follows when the plan has been compared with another. Non-finite floats stand as text, since JSON has
none.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.store import untrusted
from tf_opdiff.harness.store.json_text import json_of

#: Bytes of a shard, and of one line of it.
SHARD, LINE = 4096 * untrusted.MIB, 256 * untrusted.MIB


class Unkept(Exception):
    """What a run finds can't be kept: its directory is gone, or the disk is full. The message is one line."""


class Shard:
    """An append-only file of lines, owned by one process."""

    def __init__(self, path: Path) -> None:
        torn = path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n")
        self._path = path
        self._file = path.open("ab", buffering=0)
        if torn:  # its writer was killed: the first line of ours must not lengthen that one
            self._file.write(b"\n")

    def write(self, kind: str, **data: Any) -> None:
        """Appends one line, handed to the operating system before it returns.

        Raises:
          Unkept: it can't be written whole, or the file was deleted.
        """
        left = memoryview(_checked(json_of({"line": kind, **data}, separators=(",", ":")).encode()))
        try:
            while left:  # a write to a disk that fills up is a short one before it is an error
                left = left[self._file.write(left) :]
            present = os.fstat(self._file.fileno()).st_nlink
        except OSError as why:
            raise Unkept(f"{self._path}: {why.strerror}") from why
        if not present:
            raise Unkept(f"{self._path} was deleted while the run was writing it")

    def close(self) -> None:
        """Flushes to the disk and closes.

        Raises:
          Unkept: it can't be flushed.
        """
        try:
            with self._file:
                if os.path.isfile(self._path):  # a pipe or a device has nothing to flush
                    os.fsync(self._file.fileno())
        except OSError as why:
            raise Unkept(f"{self._path}: {why.strerror}") from why


def _checked(text: bytes) -> bytes:
    """The line of a shard that holds this text."""
    return b"%08x %s\n" % (zlib.crc32(text), text)


def texts(path: Path) -> Iterator[tuple[str, bytes | None]]:
    """Where each line of a shard stands, and its JSON, which is None where the line was cut or damaged.

    A line longer than `LINE` is none of ours, and neither is what stands beyond `SHARD`: both count as damaged.

    Raises:
      OSError: the shard can't be opened.
      ValueError: it is a link, or no file.
    """
    with untrusted.opened(path, untrusted.ANY) as file:
        number, left = 0, SHARD
        while line := file.readline(LINE):
            number, left = number + 1, left - len(line)
            text = line[9:-1]
            yield f"{path}, line {number}", text if line == _checked(text) else None
            while not line.endswith(b"\n") and left > 0 and (line := file.readline(LINE)):  # the rest of a long one
                left -= len(line)
            if left <= 0:
                yield f"{path}, beyond {SHARD:,} bytes", None
                return


def read_shard(path: Path, as_: Any = dict[str, Any]) -> Iterator[Any]:
    """The lines of a shard, in order; None for each that was cut or damaged.

    `as_` is the type to read a line as; fields that a `msgspec.Struct` does not name are passed over.

    Raises:
      OSError: the shard can't be opened.
      ValueError: it is a link or no file, or a line is whole and of another type.
    """
    decoder = msgspec.json.Decoder(as_)
    for where, text in texts(path):
        yield None if text is None else untrusted.decode(text, decoder, where)
