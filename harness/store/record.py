"""Record: one verdict, flattened to a row; and the shards to which workers append rows.

A shard holds one JSON object a line behind its CRC-32, so that a line which was cut or damaged is recognised:
`plan` lines name the selected items; `start` and `result` lines stand around each run of a case under a plan, and a
`compare` line follows when the plan has been compared with another.
Non-finite floats stand as text, since JSON has none.
"""

from __future__ import annotations

import json
import math
import os
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import msgspec

from tf_opdiff.harness.store import untrusted

VERDICTS = ("match", "contract", "known", "mismatch", "stale", "error", "unavailable")
FAILING = ("mismatch", "stale", "error")
KINDS = (
    *("status", "error_code", "crash", "hang", "shape", "dtype", "nan", "inf", "signed_zero", "subnormal", "value"),
    *("gradient_status", "nondeterministic", "position", "input_mutated", "reference"),
)
#: Bytes of a shard, and of one line of it.
SHARD, LINE = 4096 * untrusted.MIB, 256 * untrusted.MIB
#: What `against` begins with where it is a claim, whose id follows.
CLAIM = "claim:"


@dataclass(frozen=True, kw_only=True)
class Record:
    """One row. The names and their order are read by tools outside the project.

    `cuda` is the version of CUDA that TensorFlow uses on the machine; empty where TensorFlow lists no GPU. Records made
    before this rule, and old recordings, have there the version that TensorFlow was built for.
    `raw_op` and `ran_on` are `;`-joined. `against` is `numpy`, a plan, or `claim:` and an id. `size` and `mismatched`
    count elements; `max_ulp` (in ULPs of the result's dtype), `max_abs` and `budget` (in ULPs) are NaN where no
    distance was taken. `input`, `got` and `want` show the values at `worst_index`. `seconds` is the run's time in the
    device server. `example` shows the values at `example_index`, that of the simplest input (see
    `harness.judge.simplest`) of those with the same kind; `distance` says in words how far off the worst element is,
    where a distance makes sense. `attrs` is the label of the keyword arguments of the case; empty where its spec has
    none. `cause` is the id of the cause whose `owner`, `reason` and `link` the record has.
    """

    run: str = ""
    started: str = ""
    tf: str = ""
    cuda: str = ""
    host: str = ""
    suite: str = ""
    spec: str = ""
    raw_op: str = ""
    case: str = ""
    dtype: str = ""
    recipe: str = ""
    seed: str = ""
    device: str = ""
    mode: str = ""
    ran_on: str = ""
    against: str = ""
    quantity: str = ""
    verdict: str = ""
    kind: str = ""
    size: int = 0
    mismatched: int = 0
    max_ulp: float = math.nan
    max_abs: float = math.nan
    budget: float = math.nan
    worst_index: str = ""
    input: str = ""
    got: str = ""
    want: str = ""
    detail: str = ""
    owner: str = ""
    reason: str = ""
    link: str = ""
    seconds: float = math.nan
    rerun: str = ""
    example_index: str = ""
    example: str = ""
    distance: str = ""
    attrs: str = ""
    cause: str = ""

    @property
    def failing(self) -> bool:
        return self.verdict in FAILING

    @property
    def known_reason(self) -> str:
        """The reason of a known failure. Empty for a failure that nobody has explained."""
        return self.reason if self.verdict in ("known", "stale") else ""

    @property
    def plan(self) -> str:
        """The plan, as `against` names one."""
        return f"{self.device}/{self.mode}"

    def to_json(self) -> dict[str, Any]:
        """The row as JSON-able data."""
        return finite(vars(self))

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The row that `to_json` was given. Texts that recur, as most do, are kept once."""
        told: dict[str, Any] = {k: sys.intern(v) if type(v) is str else v for k, v in row.items()}
        told.update({k: float(row[k]) for k in _FLOATS if not isinstance(row.get(k, 0.0), float)})
        return cls(**told)


COLUMNS = tuple(f.name for f in fields(Record))
#: Columns that older files do not have.
ADDED = COLUMNS[COLUMNS.index("rerun") + 1 :]
_FLOATS = {f.name for f in fields(Record) if f.type == "float"}


class Unkept(Exception):
    """What a run finds can't be kept: its directory is gone, or the disk is full. The message is one line."""


class Shard:
    """An append-only file of lines, owned by one process."""

    def __init__(self, path: Path) -> None:
        torn = path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n")
        self._path = path
        self._file = path.open("ab", buffering=0)
        if torn:  # its writer was killed: the first line of ours must not lengthen that one
            self._file.write(b"\n")

    def write(self, kind: str, **data: Any) -> None:
        """Appends one line, handed to the operating system before it returns.

        Raises:
          Unkept: it can't be written whole, or the file was deleted.
        """
        left = memoryview(_checked(json_of({"line": kind, **data}, separators=(",", ":")).encode()))
        try:
            while left:  # a write to a disk that fills up is a short one before it is an error
                left = left[self._file.write(left) :]
            present = os.fstat(self._file.fileno()).st_nlink
        except OSError as why:
            raise Unkept(f"{self._path}: {why.strerror}") from why
        if not present:
            raise Unkept(f"{self._path} was deleted while the run was writing it")

    def close(self) -> None:
        """Flushes to the disk and closes.

        Raises:
          Unkept: it can't be flushed.
        """
        try:
            with self._file:
                if os.path.isfile(self._path):  # a pipe or a device has nothing to flush
                    os.fsync(self._file.fileno())
        except OSError as why:
            raise Unkept(f"{self._path}: {why.strerror}") from why


def _checked(text: bytes) -> bytes:
    """The line of a shard that holds this text."""
    return b"%08x %s\n" % (zlib.crc32(text), text)


def finite(data: Any) -> Any:
    """JSON-able data with text in place of the floats that JSON has no way to write: `nan`, `inf` and `-inf`."""
    if isinstance(data, Mapping):
        return {name: finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return repr(float(data)) if isinstance(data, float) and not math.isfinite(data) else data


def json_of(data: Any, **layout: Any) -> str:
    """`finite` data as JSON that every reader takes."""
    try:
        return json.dumps(data, allow_nan=False, **layout)
    except ValueError:
        return json.dumps(finite(data), allow_nan=False, **layout)


def encodable(text: str) -> str:
    """A text that UTF-8 can hold: lone surrogates, which a message of TensorFlow's may hold, are written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def texts(path: Path) -> Iterator[tuple[str, bytes | None]]:
    """Where each line of a shard stands, and its JSON, which is None where the line was cut or damaged.

    A line longer than `LINE` is none of ours, and neither is what stands beyond `SHARD`: both count as damaged.

    Raises:
      OSError: the shard can't be opened.
      ValueError: it is a link, or no file.
    """
    with untrusted.opened(path, untrusted.ANY) as file:
        number, left = 0, SHARD
        while line := file.readline(LINE):
            number, left = number + 1, left - len(line)
            text = line[9:-1]
            yield f"{path}, line {number}", text if line == _checked(text) else None
            while not line.endswith(b"\n") and left > 0 and (line := file.readline(LINE)):  # the rest of a long one
                left -= len(line)
            if left <= 0:
                yield f"{path}, beyond {SHARD:,} bytes", None
                return


def read_shard(path: Path, as_: Any = dict[str, Any]) -> Iterator[Any]:
    """The lines of a shard, in order; None for each that was cut or damaged.

    `as_` is the type to read a line as; fields that a `msgspec.Struct` does not name are passed over.

    Raises:
      OSError: the shard can't be opened.
      ValueError: it is a link or no file, or a line is whole and of another type.
    """
    decoder = msgspec.json.Decoder(as_)
    for where, text in texts(path):
        yield None if text is None else untrusted.decode(text, decoder, where)
