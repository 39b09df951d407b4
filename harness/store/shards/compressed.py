"""Compressed: shards of an ended run as streams of Zstandard, from which the same bytes are read, and its logs."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tf_opdiff.harness.store.formats import untrusted

SUFFIX = ".zst"
#: Smaller shards, in bytes, stay as they are: any tool can read them.
LEAST = untrusted.MIB
#: Smaller logs, in bytes, stay as they are.
LEAST_LOG = 1 << 16
#: How many times its size a compressed shard usually expands to, and may expand to.
USUAL, MOST = 32, 256
#: The level of Zstandard. It takes 15 ms a MiB; higher levels save 1 % and take several times as long.
LEVEL = 12
#: A line that no CRC fits; it stands for bytes that can't be expanded.
DAMAGED = b"damaged\n"
_CHUNK = untrusted.MIB
#: Bytes that are compressed at a time.
_FRAME = 16 * untrusted.MIB


class _Expanded(io.RawIOBase):
    """The expanded bytes of a file. At a damaged place, and in an empty or cut file, `DAMAGED` ends them."""

    def __init__(self, file: BinaryIO) -> None:
        import pyarrow as pa  # only a run with compressed shards needs it

        self._stream: Any = pa.CompressedInputStream(file, "zstd")
        self._empty, self._ended = True, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b"" if self._ended else self._next(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _next(self, count: int) -> bytes:
        try:
            data: bytes = self._stream.read(count)
        except (OSError, ValueError):  # Arrow's errors are of these kinds
            data = b""
            self._empty = True
        self._ended = not data
        damaged = self._ended and self._empty
        self._empty = False
        return DAMAGED if damaged else data


def expanded(path: Path, file: BinaryIO, most: int) -> tuple[BinaryIO, int]:
    """The lines of an open shard, expanded if its name ends in `SUFFIX`, and the most bytes that it may have.

    `most` is that number for a shard of any size. A stream needs at most 128 MiB of memory: Zstandard refuses others.
    """
    if path.suffix != SUFFIX:
        return file, most
    size = os.fstat(file.fileno()).st_size
    return io.BufferedReader(_Expanded(file), _CHUNK), min(most, MOST * size)


def filled(
    path: Path,
    texts: Callable[[Path], Iterator[tuple[str, bytes | None]]],
    mark: bytes,
    fill: Callable[[bytes, str], bytes],
) -> Iterator[tuple[str, bytes | None]]:
    """The texts of a shard; in a compressed one, `fill` restores what lines with `mark` leave to another file.

    Args:
      path: the shard.
      texts: `harness.store.shards.shard.texts`, or a function of its kind.
      mark: the bytes that stand in a shortened line in place of what it lacks.
      fill: (the text of a line, its place in words) → the whole text.
    """
    for where, text in texts(path):
        lacks = path.suffix == SUFFIX and text is not None and mark in text
        yield where, fill(text, where) if text and lacks else text


def _same(line: bytes) -> bytes:
    return line


def compress(shards: Iterable[Path], change: Callable[[bytes], bytes] = _same) -> None:
    """Replaces each shard of at least `LEAST` bytes by a compressed one, if that gives the same bytes.

    `change` may give another line for each line, to which a reader adds what it took out.

    Raises:
      OSError: a shard can't be read, or there is no room for the compressed one; the shard stays then.
      ValueError: a shard is a link, or not a file.
    """
    for path in shards:
        if path.suffix != SUFFIX and path.stat().st_size >= LEAST:
            temporary = path.with_suffix(".tmp")
            try:
                if _write(path, temporary, change) == _sum(temporary):
                    os.replace(temporary, path.with_name(path.name + SUFFIX))
                    path.unlink()
            finally:
                temporary.unlink(missing_ok=True)


def compress_logs(folder: Path) -> None:
    """Replaces each log of at least `LEAST_LOG` bytes by a `.log.gz` file, which `zless` reads; links stay.

    Raises:
      OSError: a log can't be read, or there is no room for the compressed one; the log stays then.
    """
    for path in sorted(folder.glob("*.log")):
        if path.is_symlink() or not path.is_file() or path.stat().st_size < LEAST_LOG:
            continue
        temporary, target = path.with_suffix(".tmp"), path.with_name(path.name + ".gz")
        try:
            with path.open("rb") as log, gzip.open(temporary, "xb") as out:
                shutil.copyfileobj(log, out)
            os.replace(temporary, target)
            path.unlink()
        finally:
            temporary.unlink(missing_ok=True)


def _write(path: Path, target: Path, change: Callable[[bytes], bytes]) -> tuple[int, int]:
    """Writes the compressed lines of a file, and waits until the disk has them; returns their length and CRC-32."""
    import pyarrow as pa

    number = crc = 0
    codec = pa.Codec("zstd", compression_level=LEVEL)
    with untrusted.opened(path, untrusted.ANY) as file, target.open("xb") as out:
        while lines := file.readlines(_FRAME):
            data = b"".join(map(change, lines))
            out.write(codec.compress(data, asbytes=True))
            number, crc = number + len(data), zlib.crc32(data, crc)
        out.flush()
        os.fsync(out.fileno())
    return number, crc


def _sum(path: Path) -> tuple[int, int]:
    """The length and the CRC-32 of the bytes that a compressed shard gives, in which a damaged stream shows."""
    number = crc = 0
    with untrusted.opened(path, untrusted.ANY) as file:
        lines, most = expanded(Path(f"shard{SUFFIX}"), file, untrusted.ANY)
        while chunk := lines.read(_CHUNK):
            number, crc = number + len(chunk), zlib.crc32(chunk, crc)
            if number > most:
                break
    return number, crc
