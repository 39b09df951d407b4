"""Recorded programs: recordings get the digests of programs whose source changed and whose calls did not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from tf_opdiff.harness.store.recordings import recording_writer
from tf_opdiff.harness.store.recordings.recording import find, names
from tf_opdiff.harness.store.recordings.recording_format import SCHEMA, SUFFIX


def write_again(folder: Path, programs: Mapping[str, tuple[str, str]]) -> dict[str, int]:
    """Writes recordings with new digests of programs; returns how many cases of each recording have a new one.

    A case whose recorded digest is another one than the old one keeps it: it was out of date before. Recordings with a
    base keep it. If nothing is new, no file changes.

    Args:
      folder: the folder of the recordings.
      programs: case → the digest of its program before and now.

    Raises:
      ValueError: a recording is damaged, or its base is missing.
    """
    recordings = sorted(find(names(folder), folder).values(), key=lambda recording: bool(recording.about.base))
    # The rows are read before any base is replaced.
    renamed = [(recording, *_renamed(recording.table, programs)) for recording in recordings]
    counts = {_name(recording.path): cases for recording, _, cases in renamed}
    if any(counts.values()):
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            for recording, table, _ in renamed:
                about = replace(recording.about, name=_name(recording.path))
                recording_writer.write_rows(about, table, Path(temporary), base=about.base)
            for recording in recordings:
                os.replace(Path(temporary, recording.path.name), recording.path)
    return counts


def _name(path: Path) -> str:
    return path.name.removesuffix(SUFFIX)


def _renamed(table: pa.Table, programs: Mapping[str, tuple[str, str]]) -> tuple[pa.Table, int]:
    """The rows with new digests of programs, and the number of cases that have one."""
    rows = zip(table.column("case").to_pylist(), table.column("program").to_pylist(), strict=True)
    digests, cases = [], set()
    for case, program in rows:
        old, new = programs.get(case, ("", ""))
        renamed = bool(old) and program == old
        digests.append(new if renamed else program)
        cases |= {case} if renamed else set()
    at = SCHEMA.get_field_index("program")
    return table.set_column(at, SCHEMA.field(at), pa.array(digests, pa.string())), len(cases)
