"""Recording: a device's stored observations, to compare with devices on another day or another machine.

A recording is a Parquet file with one row for each quantity of a case under a mode; its metadata describes the device.
It may name another recording in the same folder as its base, which then has the results that are equal in both.
Each case has hashes of its inputs and of its program. If one of them differs today, the recorded case is refused, with
the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tf_opdiff.harness.device.observation import STATUSES, Observation, Result, unraw
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.formats import parquet, untrusted
from tf_opdiff.harness.store.recordings import recording_header, shared_results
from tf_opdiff.harness.store.recordings.recording_format import COLUMNS, NAME, NULLABLE, SCHEMA, SUFFIX
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.shards.line_types import Row


class Recording:
    """One file; its rows are read when they are first used."""

    def __init__(self, path: Path) -> None:
        """Reads the header of the recording, and checks its base.

        Raises:
          ValueError: the file is damaged, or not a recording, or its base is missing, damaged or another one.
        """
        self.path = path
        self.about = recording_header.read(path)
        self._base = recording_header.checked_base(path, self.about)

    @property
    def device(self) -> Device:
        """The device, under the recording's name."""
        device = Device.parse(self.about.device)
        return Device(device.type, device.index, device.variants, recorded=self.about.name)

    @cached_property
    def table(self) -> pa.Table:
        """The rows, with the results that the base has.

        Raises:
          ValueError: the recording or its base is damaged.
        """
        table, where = parquet.read(self.path, COLUMNS, nullable=NULLABLE).cast(SCHEMA), str(self.path)
        if self._base is None:
            return shared_results.without_base(table, where)
        return shared_results.restored(table, Recording(self._base).table, where)

    @cached_property
    def _rows(self) -> dict[tuple[str, str], tuple[int, int]]:
        """The rows of each case under each mode: the number of the first row, and the count of rows."""
        spans: dict[tuple[str, str], tuple[int, int]] = {}
        for i, cell in enumerate(zip(self._column("case"), self._column("mode"), strict=True)):
            first, count = spans.get(cell, (i, 0))
            spans[cell] = first, count + 1
        return spans

    @cached_property
    def _hashed(self) -> set[tuple[str, str]]:
        """The pairs (case, mode) with an array that was replaced by its hash."""
        columns = zip(self._column("case"), self._column("mode"), self._column("hash"), strict=True)
        return {(case, mode) for case, mode, hashed in columns if hashed}

    def _column(self, name: str) -> list[Any]:
        return self.table.column(name).to_pylist()

    @property
    def cells(self) -> set[tuple[str, str]]:
        """The recorded cells: the id of a case, and a mode."""
        return set(self._rows)

    @property
    def cases(self) -> set[str]:
        """The ids of the recorded cases."""
        return {case for case, _ in self._rows}

    def observation(self, request: Request, program: str) -> Observation:
        """The recorded observation for a request and the digest of a program, or an observation with the reason."""
        rows = self._of(request.case, request.mode)
        why = self._refused(rows, request.case, request.mode, program, request.digest)
        if why:
            return Observation.of_all(request.quantities, Result("error", code="Unavailable", message=why), lacking=why)
        again: dict[str, dict[str, Result]] = {k: {} for k in request.again}
        quantities: dict[str, Result] = {}
        for row in rows:
            into = again.setdefault(row["again"], {}) if row["again"] else quantities
            into[row["quantity"]] = _result(row, f"{self.path}: {row['quantity']} of {request.case}")
        facts: dict[str, Any] = {name: rows[0][name] or "" for name in ("ran_on", "raw_op", "fault", "lacking")}
        seconds = rows[0]["seconds"]
        return Observation(quantities, seconds=math.nan if seconds is None else seconds, again=again, **facts)

    def without_arrays(self, case: str, mode: str) -> bool:
        """Whether arrays of a case were too large to record."""
        return (case, mode) in self._hashed

    def records(self, case: str, mode: str, program: str, asked: str = "") -> tuple[list[Record], str]:
        """The records of a case whose arrays were too many or too large to record, and the reason if it has none."""
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
        return self.table.slice(first, count).to_pylist()

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


def names(folder: Path) -> list[str]:
    """The names of the recordings in a folder."""
    return sorted(path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}"))


def find(names_or_devices: Iterable[str], folder: Path) -> dict[str, Recording]:
    """The recordings in a folder that have one of these names, by name.

    Raises:
      LookupError: a name has another form than that of a recording, or has an `@` and is not in the folder.
      ValueError: a recording is damaged.
    """
    recordings = {}
    for name in names_or_devices:
        if not NAME.fullmatch(name):
            raise LookupError(f"recording {name!r}: expected a name such as h100@2.21.0")
        path = folder / f"{name}{SUFFIX}"
        if path.is_file():
            recordings[name] = Recording(path)
        elif "@" in name:
            raise LookupError(f"no recording {name!r} in {folder}; there is {', '.join(names(folder)) or 'none'}")
    return recordings
