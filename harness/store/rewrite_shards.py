"""Rewrite shards: takes lines out of the shards of a run, one shard after the other, each in one step."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import msgspec

from tf_opdiff.harness.store import compressed, rundir, untrusted
from tf_opdiff.harness.store.shard import checked
from tf_opdiff.harness.store.shard_arrays import texts


class _Line(msgspec.Struct):
    line: str
    case: str = ""


def keep(directory: Path, cases: Collection[str]) -> None:
    """Removes the lines about cases that are not in `cases` from the shards of a run.

    A damaged line stays a damaged line. A shard that was compressed is not afterwards, and has its arrays
    again.

    Raises:
      OSError: a shard can't be read or written.
      ValueError: a shard is a link, or an undamaged line is malformed.
    """
    decoder = msgspec.json.Decoder(_Line)
    for path in rundir.shards(directory):
        plain = path.with_name(path.name.removesuffix(compressed.SUFFIX))
        temporary = plain.with_suffix(".tmp")
        with temporary.open("wb") as file:
            for where, text in texts(path):
                if text is None:
                    file.write(b"damaged\n")
                elif not (case := untrusted.decode(text, decoder, where).case) or case in cases:
                    file.write(checked(text))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, plain)
        if path != plain:
            path.unlink()
