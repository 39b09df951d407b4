"""Recording writer: writes the result lines of a device's cells as a recording."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tf_opdiff.harness.device.observation import Observation, Result, raw
from tf_opdiff.harness.store.recordings import recording_header, shared_results
from tf_opdiff.harness.store.recordings.recorded_device import About
from tf_opdiff.harness.store.recordings.recording import Recording
from tf_opdiff.harness.store.recordings.recording_format import FORMAT, KEY, LARGEST, NAME, SCHEMA, SUFFIX
from tf_opdiff.harness.store.shards.merged import Cell


def _rows(line: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows for a result line of a shard."""
    observation = Observation.from_json(line["observation"]) if line["observation"] else Observation({})
    cell = {name: line.get(name, "") for name in ("case", "mode", "asked", "program")}
    cell |= {name: getattr(observation, name) for name in ("ran_on", "raw_op", "seconds", "fault", "lacking")}
    arrays = [("", observation.quantities), *observation.again.items()]
    rows = [{**cell, "again": kind, "quantity": q, **_columns(r)} for kind, rs in arrays for q, r in rs.items()]
    if not rows or any(row["hash"] for row in rows):
        records = [record.to_json() for record in line["records"] if record.against == "numpy"]
        rows = [{**row, "records": json.dumps(records)} for row in rows or [cell]]
    yield from rows


def _columns(result: Result) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "status": result.status,
        "code": result.code,
        "message": result.message,
        "indices": None if result.indices is None else result.indices.ravel().tolist(),
        "dense_shape": None if result.shape is None else [int(n) for n in result.shape],
        "hash": "",
    }
    if result.value is not None:
        name, data = raw(result.value)
        large = len(data) > LARGEST
        columns |= {"dtype": name, "shape": list(result.value.shape), "bytes": None if large else data}
        columns["hash"] = hashlib.blake2b(data, digest_size=16).hexdigest() if large else ""
    return columns


def write(about: About, lines: Mapping[Cell, Mapping[str, Any]], folder: Path, *, base: str = "") -> Path:
    """Writes the result lines of a device's cells as a recording with the name in `about`; returns its path.

    Raises the errors of `write_rows`.
    """
    return write_rows(about, table(lines), folder, base=base)


def table(lines: Mapping[Cell, Mapping[str, Any]]) -> pa.Table:
    """The rows of the result lines of a device's cells."""
    rows = [row for _, line in sorted(lines.items()) for row in _rows(line)]
    return pa.table({name: [row.get(name) for row in rows] for name in SCHEMA.names}, schema=SCHEMA)


def write_rows(about: About, table: pa.Table, folder: Path, *, base: str = "") -> Path:
    """Writes rows as a recording with the name in `about`; returns its path.

    Args:
      about: the header; its base is replaced.
      table: the rows, with all their results, in the columns of `SCHEMA`.
      folder: the folder of recordings.
      base: the name of a recording in the folder; results that are equal there are left out. Empty for none.

    Raises:
      ValueError: the name does not have the form of a recording's name; the base can't be one; or the file would
        replace the base of other recordings.
    """
    if not NAME.fullmatch(about.name):
        raise ValueError(f"recording {about.name!r}: expected a name such as h100@2.21.0")
    path = folder / f"{about.name}{SUFFIX}"
    about = replace(about, base=base, base_digest="")
    if base:
        file = recording_header.base(path, base)
        about = replace(about, base_digest=recording_header.digest(file))
        table = shared_results.omitted(table, Recording(file).table, str(file))
    folder.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    try:
        pq.write_table(
            table.replace_schema_metadata({KEY: json.dumps({"format": FORMAT, **asdict(about)}, indent=1)}),
            temporary,
            compression="zstd",
            compression_level=19,
            write_page_checksum=True,
        )
        _check_users(path, temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _check_users(path: Path, temporary: Path) -> None:
    """Checks that no recording loses its base when one file replaces another.

    Raises:
      ValueError: recordings have the file that would be replaced as their base.
    """
    if path.is_symlink() or not path.is_file() or recording_header.digest(path) == recording_header.digest(temporary):
        return
    if users := recording_header.users(path):
        advice = f"python -m harness rebase {shlex.join([*users, '--recordings', str(path.parent)])}"
        raise ValueError(f"{path}: it is the base of {', '.join(users)}: first write them without it: {advice}")
