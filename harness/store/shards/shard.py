"""Shard: a file to which a worker appends lines.

Each line has a CRC-32, which reveals cut or damaged lines, followed by a JSON object. `plan` lines name the selected
items. A `start` line is written before a case runs under a plan, a `result` line after it, and a `compare` line after
the plan's comparison with another plan. Non-finite floats are written as text, because JSON has none.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.shards import compressed

#: The largest sizes of a shard and of one line, in bytes.
SHARD, LINE = 4096 * untrusted.MIB, 256 * untrusted.MIB


class Unkept(Exception):
    """A run's results can't be stored: its directory is gone, or the disk is full. The message is one line."""


class Shard:
    """An append-only file of lines, owned by one process."""

    def __init__(self, path: Path) -> None:
        torn = path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n")
        self._path = path
        self._file = path.open("ab", buffering=0)
        if torn:  # a killed writer left part of a line: begin a new one
            self._file.write(b"\n")

    def write(self, kind: str, **data: Any) -> None:
        """Appends one line; the operating system has it when this returns.

        Raises:
          Unkept: the line can't be written completely, or the file was deleted.
        """
        left = memoryview(checked(json_of({"line": kind, **data}, separators=(",", ":")).encode()))
        try:
            while left:  # on a disk that fills up, a write is short before the next one fails
                left = left[self._file.write(left) :]
            present = os.fstat(self._file.fileno()).st_nlink
        except OSError as why:
            raise Unkept(f"{self._path}: {why.strerror}") from why
        if not present:
            raise Unkept(f"{self._path} was deleted while the run was writing it")

    def close(self) -> None:
        """Flushes to the disk and closes.

        Raises:
          Unkept: the file can't be flushed.
        """
        try:
            with self._file:
                if os.path.isfile(self._path):  # a pipe or a device has nothing to flush
                    os.fsync(self._file.fileno())
        except OSError as why:
            raise Unkept(f"{self._path}: {why.strerror}") from why


def checked(text: bytes) -> bytes:
    """The line of a shard with this JSON, behind its CRC."""
    return b"%08x %s\n" % (zlib.crc32(text), text)


def texts(path: Path) -> Iterator[tuple[str, bytes | None]]:
    """The position of each line of a shard, and its JSON; None as JSON if the line is cut or damaged.

    No shard has a line longer than `LINE`, or bytes beyond `SHARD`: such lines count as damaged. So does the rest of a
    compressed shard behind a place where it is damaged, or from which on it would expand too much.

    Raises:
      OSError: the shard can't be opened.
      ValueError: the shard is a link, or not a file.
    """
    with untrusted.opened(path, untrusted.ANY) as file:
        lines, most = compressed.expanded(path, file, SHARD)
        number, left = 0, most
        while line := lines.readline(LINE):
            number, left = number + 1, left - len(line)
            text = line[9:-1]
            yield f"{path}, line {number}", text if line == checked(text) else None
            while not line.endswith(b"\n") and left > 0 and (line := lines.readline(LINE)):  # the rest of a long one
                left -= len(line)
            if left <= 0:
                yield f"{path}, beyond {most:,} bytes", None
                return


#: A function such as `texts`.
Texts = Callable[[Path], Iterator[tuple[str, bytes | None]]]


def read_shard(
    path: Path, as_: Any = dict[str, Any], *, skip: tuple[bytes, ...] = (), texts: Texts = texts
) -> Iterator[Any]:
    """The lines of a shard, in order; None for each cut or damaged line.

    `as_` is the type of a line; fields that a `msgspec.Struct` does not name are ignored. Lines whose JSON begins with
    one of `skip` are left out. `texts` gives the lines; that of `harness.store.shards.shard_arrays` adds their arrays.

    Raises:
      OSError: the shard can't be opened.
      ValueError: the shard is a link or not a file, or an undamaged line has another type.
    """
    decoder = msgspec.json.Decoder(as_)
    for where, text in texts(path):
        if text is None or not text.startswith(skip):
            yield None if text is None else untrusted.decode(text, decoder, where)
