"""Whole lines: those of compressed shards, which leave arrays and records to the Parquet files of the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.run_directories.rundir import OBSERVATIONS, RECORDS, shards
from tf_opdiff.harness.store.shards import compressed, shard_arrays, shard_records

#: How the start of a cell begins, behind its checksum.
_START = b' {"line":"start",'


def compress(run: Path, *, complete: bool = False) -> None:
    """Compresses the shards of a run, without the records and arrays that its Parquet files have, if they are there.

    Starts are left out for good if the run is `complete`: every cell has a result then, and nothing asks for starts.

    Raises:
      OSError, ValueError: see `harness.store.shards.compressed.compress`; or one of the Parquet files is damaged.
    """
    changes = []
    if untrusted.inside(run, RECORDS).exists():
        changes.append(shard_records.Records(run).taken_out)
    if untrusted.inside(run, OBSERVATIONS).exists():
        changes.append(shard_arrays.Arrays(run).taken_out)

    def change(line: bytes) -> bytes:
        if complete and _START in line[:32]:
            return b""
        for one in changes:
            line = one(line)
        return line

    compressed.compress(shards(run), change)


def texts(path: Path) -> Iterator[tuple[str, bytes | None]]:
    """The lines that `harness.store.shards.shard.texts` gives, with the arrays and records that the shard leaves to
    Parquet files.

    Raises:
      OSError: the shard can't be opened.
      ValueError: the shard is a link or not a file, or a file with its arrays or records is missing or of another run.
    """
    return shard_records.texts(path, texts=shard_arrays.texts)
