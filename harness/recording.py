"""Recording: a device's observations, kept to be compared on another day or another machine.

A Parquet file with one row a quantity of a case under a mode, and in its metadata what the device is. Beside each case
stand hashes of what it was asked and of the program that answered: where either has changed since, the case is
refused, and says so.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.observation import Observation, Result, raw, unraw
from harness.plan import Device
from harness.processor import described
from harness.record import Record
from harness.request import Request
from harness.rundir import Cell

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
            told = (pq.read_schema(path).metadata or {})[_KEY]
            about = json.loads(told)
            if about.pop("format") != FORMAT:
                raise ValueError("another format")
            self.about = About(**{**about, "runs": tuple(about["runs"]), "faults": tuple(about["faults"])})
        except (pa.ArrowException, KeyError, ValueError, TypeError, OSError) as why:
            raise ValueError(f"{path}: expected a recording of format {FORMAT} ({why})") from why

    @property
    def device(self) -> Device:
        """The device, under the recording's name."""
        found = Device.parse(self.about.device)
        return Device(found.type, found.index, found.variants, recorded=self.about.name)

    @cached_property
    def _table(self) -> Any:
        try:
            return pq.read_table(self.path, page_checksum_verification=True)
        except (pa.ArrowException, OSError) as why:
            raise ValueError(f"{self.path} is damaged ({why})") from why

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
            into[row["quantity"]] = _result(row)
        told = {name: rows[0][name] for name in ("ran_on", "raw_op", "seconds", "fault", "lacking")}
        return Observation(quantities=quantities, again=again, **told)

    def without_arrays(self, case: str, mode: str) -> bool:
        """Whether the arrays of a case were too large to keep."""
        return (case, mode) in self._hashed

    def records(self, case: str, mode: str, program: str, asked: str = "") -> tuple[list[Record], str]:
        """The records that a case led to whose arrays were too many or too large to keep; or why there are none."""
        rows = self._of(case, mode)
        why = self._refused(rows, case, mode, program, asked)
        return ([] if why else [Record.from_json(r) for r in json.loads(rows[0]["records"] or "[]")]), why

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


def _result(row: Mapping[str, Any]) -> Result:
    return Result(
        status=row["status"],
        value=None if row["bytes"] is None else unraw(row["dtype"], row["shape"], row["bytes"]),
        indices=None if row["indices"] is None else np.asarray(row["indices"], np.int64),
        shape=None if row["dense_shape"] is None else tuple(row["dense_shape"]),
        code=row["code"],
        message=row["message"],
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
        path = folder / f"{name}{SUFFIX}"
        if path.is_file():
            found[name] = Recording(path)
        elif "@" in name:
            raise LookupError(f"no recording {name!r} in {folder}; there is {', '.join(names(folder)) or 'none'}")
    return found
