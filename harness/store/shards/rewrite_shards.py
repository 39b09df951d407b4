"""Rewrite shards: makes the shards of a run plain, without some lines, one shard after the other, each in one step."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.shards import compressed
from tf_opdiff.harness.store.shards.shard import checked
from tf_opdiff.harness.store.shards.whole_lines import texts


class _Line(msgspec.Struct):
    line: str
    case: str = ""


def keep(directory: Path, cases: Collection[str]) -> None:
    """Removes the lines about cases that are not in `cases` from the shards of a run.

    A damaged line stays a damaged line. A shard that was compressed is not afterwards, and has its arrays
    and records again.

    Raises:
      OSError: a shard can't be read or written.
      ValueError: a shard is a link, or an undamaged line is malformed.
    """
    decoder = msgspec.json.Decoder(_Line)

    def stays(text: bytes, where: str) -> bool:
        case = untrusted.decode(text, decoder, where).case
        return not case or case in cases

    for path in rundir.shards(directory):
        _rewrite(path, stays)


def expand(directory: Path) -> None:
    """Makes the compressed shards of a run plain and whole; the Parquet files of the run may change then.

    Raises:
      OSError, ValueError: see `keep`.
    """
    for path in rundir.shards(directory):
        if path.suffix == compressed.SUFFIX:
            _rewrite(path, lambda text, where: True)


def _rewrite(path: Path, stays: Callable[[bytes, str], bool]) -> None:
    """Replaces a shard by a plain one with the lines for whose text and position `stays` is true."""
    plain = path.with_name(path.name.removesuffix(compressed.SUFFIX))
    temporary = plain.with_suffix(".tmp")
    with temporary.open("wb") as file:
        for where, text in texts(path):
            if text is None:
                file.write(b"damaged\n")
            elif stays(text, where):
                file.write(checked(text))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, plain)
    if path != plain:
        path.unlink()
