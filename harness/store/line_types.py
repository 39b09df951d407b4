"""Lines: what each kind of line in a shard has to be, and how a shard is read that may come from anywhere.

A line that was cut or damaged is passed over and counted. So is one whose arrays are not as large as it says. A line
that is whole and of another type is an error, which names the field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

from tf_opdiff.harness.device.observation import STATUSES, Packed, unpack
from tf_opdiff.harness.store import untrusted
from tf_opdiff.harness.store.record import Record
from tf_opdiff.harness.store.shard import texts

Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
#: A float; JSON has no way to write some.
Float = float | Literal["nan", "inf", "-inf"]
#: The types of a record's columns, by what `Record` calls them.
COLUMN_TYPES: dict[str, Any] = {"str": str, "int": Count, "float": Float}
Row = TypedDict("Row", {f.name: NotRequired[COLUMN_TYPES[str(f.type)]] for f in fields(Record)})  # type: ignore[misc]


class ResultRow(TypedDict):
    """A result, as `harness.device.observation.Result.to_json` gives it."""

    status: Literal[STATUSES]  # type: ignore[valid-type]
    value: NotRequired[Packed | None]
    indices: NotRequired[Packed | None]
    shape: NotRequired[list[Count] | None]
    code: NotRequired[str]
    message: NotRequired[str]


class Observed(TypedDict):
    """An observation, as `harness.device.observation.Observation.to_json` gives it; empty in the line of a sweep."""

    quantities: NotRequired[dict[str, ResultRow]]
    again: NotRequired[dict[str, dict[str, ResultRow]]]
    ran_on: NotRequired[str]
    raw_op: NotRequired[str]
    seconds: NotRequired[float]
    fault: NotRequired[str]
    lacking: NotRequired[str]


class Planned(TypedDict):
    """The items that a session is going to run."""

    line: str
    items: list[str]


class Started(TypedDict):
    """A cell that is run now, `at` seconds since the epoch."""

    line: str
    case: str
    device: str
    mode: str
    at: NotRequired[float]


class Ended(Started):
    """A cell's records, against NumPy or other plans; of a result the observation and what it is of, too."""

    records: list[Row]
    observation: NotRequired[Observed]
    asked: NotRequired[str]
    program: NotRequired[str]


class Timed(TypedDict):
    """How long an item took, in seconds."""

    line: str
    item: str
    seconds: float


class Lost(TypedDict):
    """Items that have no result, and why."""

    line: str
    items: list[str]
    why: str


class TallyRow(TypedDict):
    """A tally, as `harness.sweep.tally.Tally.to_json` gives it."""

    size: Count
    mismatched: Count
    flushed: Count
    max_ulp: Float | None
    max_abs: Float | None
    kinds: dict[str, Count]
    histogram: list[Count]
    worst: list[tuple[str, Float, Count, str, str]]
    status: Literal[STATUSES]  # type: ignore[valid-type]
    code: str
    message: str
    simplest: NotRequired[dict[str, tuple[list[Float], Count, str, str]]]


class Block(TypedDict):
    """What a block of a sweep gave under a plan: a tally of each recipe and quantity."""

    line: str
    spec: str
    dtype: str
    attrs: NotRequired[str]
    device: str
    mode: str
    lo: Count
    hi: Count
    seconds: float
    about: dict[str, str]
    tallies: list[tuple[str, str, TallyRow]]


class _Kind(msgspec.Struct):
    line: str


#: What each kind of line has to be; other kinds are passed over.
SCHEMAS: dict[str, Any] = {
    "plan": Planned,
    "start": Started,
    "result": Ended,
    "compare": Ended,
    "item": Timed,
    "lost": Lost,
    "block": Block,
}


def read(path: Path) -> Iterator[dict[str, Any] | None]:
    """The lines of a shard of the kinds in `SCHEMAS`, in order; None for each that was cut or damaged.

    Raises:
      OSError: the shard can't be opened.
      ValueError: it is a link or no file, or a line is whole and of another type.
    """
    for where, data in texts(path):
        line = None
        if data is not None:
            kind = untrusted.decode(data, _Kind, where).line
            if kind not in SCHEMAS:
                continue
            line = untrusted.decode(data, SCHEMAS[kind], where)
        yield line if line is not None and sound(line.get("observation", {})) else None


def sound(observation: Observed) -> bool:
    """Whether every array of an observation can be unpacked, and is as large as it says."""
    try:
        for results in (observation.get("quantities", {}), *observation.get("again", {}).values()):
            for result in results.values():
                unpack(result.get("value"))
                unpack(result.get("indices"))
    except ValueError:
        return False
    return True
