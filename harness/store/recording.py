"""Recording: a device's observations, kept to be compared on another day or another machine.

A Parquet file with one row a quantity of a case under a mode, and in its metadata what the device is. Beside each case
stand hashes of what it was asked and of the program that answered: where either has changed since, the case is
refused, and says so.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tf_opdiff.harness.device.observation import STATUSES, Observation, Result, raw, unraw
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store import parquet, untrusted
from tf_opdiff.harness.store.line_types import Row
from tf_opdiff.harness.store.processor import described
from tf_opdiff.harness.store.record import Record
from tf_opdiff.harness.store.rundir import Cell

FORMAT = 1
SUFFIX = ".parquet"
#: Bytes: of a larger array a hash is kept, and of its case the records that it led to.
LARGEST = 1 << 16
NAME = re.compile(r"[a-z][a-z0-9_.:+=-]*(@[a-z0-9_.+-]+)?")
_KEY = b"tf-opdiff"
_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("case", "mode", "quantity", "again", "status", "dtype")),
        ("shape", pa.list_(pa.int64())),
        ("bytes", pa.binary()),
        ("hash", pa.string()),
        ("indices", pa.list_(pa.int64())),
        ("dense_shape", pa.list_(pa.int64())),
        *((name, pa.string()) for name in ("code", "message", "asked", "program", "ran_on", "raw_op")),
        ("seconds", pa.float64()),
        *((name, pa.string()) for name in ("fault", "lacking", "records")),
    ]
)
_HOLDS = {"shape": "lists of integers", "bytes": "bytes", "indices": "lists of integers", "seconds": "floats"}
_COLUMNS = dict.fromkeys(_SCHEMA.names, "texts") | _HOLDS | {"dense_shape": "lists of integers"}
#: A sweep has no arrays, and a result may be none.
_NULLABLE = tuple(name for name in _SCHEMA.names if name not in ("case", "mode"))


class _Format(msgspec.Struct):
    format: int


@dataclass(frozen=True, kw_only=True)
class About:
    """What was recorded: the device, and what it ran on.

    `details` is what TensorFlow says of the device (of a GPU: its name and compute capability), `versions` those of
    TensorFlow, CUDA's libraries, the driver, NumPy and Python; `cuda` is as in a record; `machine` is the processor
    and the system; `runs` the ids of the runs, `started` the first one's
    begin. `faults` says why it is not all that was planned.
    """

    name: str
    device: str
    tf: str
    cuda: str = ""
    host: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    started: str = ""
    faults: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        """All that tells one recording from another, for people to read."""
        return {
            "recorded": f"{self.started}, run {', '.join(self.runs)}",
            "device": self.device,
            "tensorflow": self.tf,
            "cuda": self.cuda,
            "host": self.host,
            "processor": described(self.machine),
            **{k: v for k, v in self.versions.items() if k in ("cudnn", "driver") and v},
            **self.flags,
            **self.details,
        }


class Recording:
    """One file, read when it is first asked."""

    def __init__(self, path: Path) -> None:
        """Reads what the recording is of.

        Raises:
          ValueError: the file is damaged, or no recording.
        """
        self.path = path
        try:
            with untrusted.opened(path, parquet.MOST) as file:
                about = (pq.read_schema(file).metadata or {}).get(_KEY)
        except (pa.ArrowException, OSError, TypeError) as why:
            raise ValueError(f"{path}: expected a recording of format {FORMAT} ({why})") from why
        if about is None:
            raise ValueError(f"{path}: expected a recording of format {FORMAT}; it does not say that it is one")
        if (format_ := untrusted.decode(about, _Format, str(path)).format) != FORMAT:
            raise ValueError(f"{path}: expected a recording of format {FORMAT}, got {format_}")
        self.about = untrusted.decode(about, About, str(path))
        try:
            Device.parse(self.about.device)
        except ValueError as why:
            raise ValueError(f"{path}: {why}") from why

    @property
    def device(self) -> Device:
        """The device, under the recording's name."""
        found = Device.parse(self.about.device)
        return Device(found.type, found.index, found.variants, recorded=self.about.name)

    @cached_property
    def _table(self) -> Any:
        return parquet.read(self.path, _COLUMNS, nullable=_NULLABLE).cast(_SCHEMA)

    @cached_property
    def _rows(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Where the rows of a case under a mode are: the first, and how many."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for i, cell in enumerate(zip(self._column("case"), self._column("mode"), strict=True)):
            first, count = found.get(cell, (i, 0))
            found[cell] = first, count + 1
        return found

    @cached_property
    def _hashed(self) -> set[tuple[str, str]]:
        """The cases under a mode of which an array has a hash in its place."""
        columns = zip(self._column("case"), self._column("mode"), self._column("hash"), strict=True)
        return {(case, mode) for case, mode, hashed in columns if hashed}

    def _column(self, name: str) -> list[Any]:
        return self._table.column(name).to_pylist()

    @property
    def cases(self) -> set[str]:
        """The ids of the cases that it has."""
        return {case for case, _ in self._rows}

    def observation(self, request: Request, program: str) -> Observation:
        """What the device gave for a request, by the program of this digest; one that says why, if it is not there."""
        rows = self._of(request.case, request.mode)
        why = self._refused(rows, request.case, request.mode, program, request.digest)
        if why:
            return Observation.of_all(request.quantities, Result("error", code="Unavailable", message=why), lacking=why)
        again: dict[str, dict[str, Result]] = {k: {} for k in request.again}
        quantities: dict[str, Result] = {}
        for row in rows:
            into = again.setdefault(row["again"], {}) if row["again"] else quantities
            into[row["quantity"]] = _result(row, f"{self.path}: {row['quantity']} of {request.case}")
        told: dict[str, Any] = {name: rows[0][name] or "" for name in ("ran_on", "raw_op", "fault", "lacking")}
        seconds = rows[0]["seconds"]
        return Observation(quantities, seconds=math.nan if seconds is None else seconds, again=again, **told)

    def without_arrays(self, case: str, mode: str) -> bool:
        """Whether the arrays of a case were too large to keep."""
        return (case, mode) in self._hashed

    def records(self, case: str, mode: str, program: str, asked: str = "") -> tuple[list[Record], str]:
        """The records that a case led to whose arrays were too many or too large to keep; or why there are none."""
        rows = self._of(case, mode)
        why = self._refused(rows, case, mode, program, asked)
        if why:
            return [], why
        where = f"{self.path}: records of {case} under {mode}"
        return [
            Record.from_json(r) for r in untrusted.decode((rows[0]["records"] or "[]").encode(), list[Row], where)
        ], ""

    def _of(self, case: str, mode: str) -> list[dict[str, Any]]:
        first, count = self._rows.get((case, mode), (0, 0))
        return self._table.slice(first, count).to_pylist()

    def _refused(self, rows: list[dict[str, Any]], case: str, mode: str, program: str, asked: str) -> str:
        if not rows:
            return f"recording {self.about.name} has no {case} under {mode}"
        for what, was, now in (("another program", "program", program), ("other inputs", "asked", asked)):
            if rows[0][was] != now:
                return f"recording {self.about.name} has {case} with {what} than it has here: record it again"
        return ""


def _result(row: Mapping[str, Any], where: str) -> Result:
    if row["status"] not in STATUSES:
        raise ValueError(f"{where}: status {row['status']!r}: expected one of {', '.join(STATUSES)}")
    if row["bytes"] is not None and (row["dtype"] is None or row["shape"] is None):
        raise ValueError(f"{where}: expected an array with its dtype and shape")
    try:
        value = None if row["bytes"] is None else unraw(row["dtype"], row["shape"], row["bytes"])
    except ValueError as why:
        raise ValueError(f"{where}: {why}") from why
    return Result(
        status=row["status"],
        value=value,
        indices=None if row["indices"] is None else np.asarray(row["indices"], np.int64),
        shape=None if row["dense_shape"] is None else tuple(row["dense_shape"]),
        code=row["code"] or "",
        message=row["message"] or "",
    )


def _rows(line: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a shard's result line."""
    seen = Observation.from_json(line["observation"]) if line["observation"] else Observation({})
    cell = {name: line.get(name, "") for name in ("case", "mode", "asked", "program")}
    cell |= {name: getattr(seen, name) for name in ("ran_on", "raw_op", "seconds", "fault", "lacking")}
    arrays = [("", seen.quantities), *seen.again.items()]
    found = [{**cell, "again": kind, "quantity": q, **_columns(r)} for kind, rs in arrays for q, r in rs.items()]
    if not found or any(row["hash"] for row in found):
        kept = [record.to_json() for record in line["records"] if record.against == "numpy"]
        found = [{**row, "records": json.dumps(kept)} for row in found or [cell]]
    yield from found


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


def write(about: About, lines: Mapping[Cell, Mapping[str, Any]], folder: Path) -> Path:
    """Writes the result lines of a device's cells as a recording of the name in `about`; returns where.

    Raises:
      ValueError: the name can't be that of a recording.
    """
    if not NAME.fullmatch(about.name):
        raise ValueError(f"recording {about.name!r}: expected a name such as h100@2.21.0")
    rows = [row for _, line in sorted(lines.items()) for row in _rows(line)]
    table = pa.table({name: [row.get(name) for row in rows] for name in _SCHEMA.names}, schema=_SCHEMA)
    told = json.dumps({"format": FORMAT, **asdict(about)}, indent=1)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{about.name}{SUFFIX}"
    temporary = path.with_suffix(".tmp")
    pq.write_table(
        table.replace_schema_metadata({_KEY: told}),
        temporary,
        compression="zstd",
        compression_level=19,
        write_page_checksum=True,
    )
    os.replace(temporary, path)
    return path


def names(folder: Path) -> list[str]:
    """The names of the recordings in a folder."""
    return sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}"))


def find(names_or_devices: Iterable[str], folder: Path) -> dict[str, Recording]:
    """The recordings among some devices, by name.

    Raises:
      LookupError: one with an `@` in its name is not in the folder.
      ValueError: one is damaged.
    """
    found = {}
    for name in names_or_devices:
        if not NAME.fullmatch(name):
            raise LookupError(f"recording {name!r}: expected a name such as h100@2.21.0")
        path = folder / f"{name}{SUFFIX}"
        if path.is_file():
            found[name] = Recording(path)
        elif "@" in name:
            raise LookupError(f"no recording {name!r} in {folder}; there is {', '.join(names(folder)) or 'none'}")
    return found
