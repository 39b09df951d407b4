"""Line types: the type of each kind of line in a shard."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

from tf_opdiff.harness.device.observation import STATUSES, Packed
from tf_opdiff.harness.store.records.record import Record

Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
#: A float; JSON can't represent all floats, so some are texts.
Float = float | Literal["nan", "inf", "-inf"]
#: The types of a record's columns, by their names in `Record`.
COLUMN_TYPES: dict[str, Any] = {"str": str, "int": Count, "float": Float}
Row = TypedDict("Row", {f.name: NotRequired[COLUMN_TYPES[str(f.type)]] for f in fields(Record)})  # type: ignore[misc]


class ResultRow(TypedDict):
    """A result, in the form of `harness.device.observation.Result.to_json`."""

    status: Literal[STATUSES]  # type: ignore[valid-type]
    value: NotRequired[Packed | None]
    indices: NotRequired[Packed | None]
    shape: NotRequired[list[Count] | None]
    code: NotRequired[str]
    message: NotRequired[str]


class Observed(TypedDict):
    """An observation, in the form of `harness.device.observation.Observation.to_json`; empty in the line of a sweep."""

    quantities: NotRequired[dict[str, ResultRow]]
    again: NotRequired[dict[str, dict[str, ResultRow]]]
    ran_on: NotRequired[str]
    raw_op: NotRequired[str]
    seconds: NotRequired[float]
    fault: NotRequired[str]
    lacking: NotRequired[str]
    left_behind: NotRequired[str]


class Planned(TypedDict):
    """The items that a session will run."""

    line: str
    items: list[str]


class Started(TypedDict):
    """The start of a cell's run, `at` seconds since the epoch."""

    line: str
    case: str
    device: str
    mode: str
    at: NotRequired[float]


class ErrorsRow(TypedDict):
    """An error profile, in the form of `harness.store.records.error_profile.ErrorProfile.to_json`."""

    argument: str
    budget: Float
    bins: Packed
    max_ulp: Packed
    histogram: list[Count]


class Ended(Started):
    """A cell's records, against NumPy or other plans.

    A result line has the observation, its digests, and the error profiles by quantity too.
    """

    records: list[Row]
    errors: NotRequired[dict[str, ErrorsRow]]
    observation: NotRequired[Observed]
    asked: NotRequired[str]
    program: NotRequired[str]


class Timed(TypedDict):
    """An item's duration in seconds."""

    line: str
    item: str
    seconds: float


class Lost(TypedDict):
    """Items without a result, and the reason."""

    line: str
    items: list[str]
    why: str


class Cached(TypedDict):
    """The number of cases whose inputs and promises a worker read back, and computed; why it stored no more, if so."""

    line: str
    read: Count
    computed: Count
    off: str


class TallyRow(TypedDict):
    """A tally, in the form of `harness.sweep.measurements.tally.Tally.to_json`."""

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


class AccuracyRow(TypedDict):
    """An accuracy, in the form of `harness.store.records.accuracy.Accuracy.to_json`."""

    bins: Packed
    distances: Packed
    worst: Packed


class Block(TypedDict):
    """The results of a block of a sweep under a plan.

    It has a tally and, for 16-bit dtypes, an error profile for each recipe and quantity, and the accuracy and the
    checksum of each quantity. `step` is the distance of its bit patterns, if not 1.
    """

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
    profiles: NotRequired[list[tuple[str, str, ErrorsRow]]]
    step: NotRequired[Count]
    accuracies: NotRequired[dict[str, AccuracyRow]]
    checksums: NotRequired[dict[str, Count]]


class TrailRow(TypedDict):
    """The inputs that a search found for a quantity under a plan; a place is a list of hexadecimal texts."""

    device: str
    mode: str
    quantity: str
    worst: list[tuple[Float, list[str]]]
    wrong: dict[str, list[list[str]]]


class Descent(TypedDict):
    """A descent of a search: `size` inputs in a round, `tried` in all rounds, `guide` as in a search."""

    line: str
    spec: str
    dtype: str
    attrs: str
    descent: Count
    size: Count
    tried: Count
    guide: Float
    seconds: float
    trails: list[TrailRow]


class Searched(TypedDict):
    """The largest error that a search found for a quantity under a plan: a row of the atlas.

    `worst` has the bit pattern of each input, as a hexadecimal text. `checksum` is that of the results of the `same`
    worst inputs of all plans.
    """

    line: str
    spec: str
    dtype: str
    attrs: str
    device: str
    mode: str
    quantity: str
    raw_op: str
    descents: Count
    tried: Count
    guide: Float
    max_ulp: Float
    worst: list[str]
    got: str
    want: str
    wrong: dict[str, list[str]]
    same: Count
    checksum: Count


#: The type of each kind of line; lines of other kinds are skipped.
SCHEMAS: dict[str, Any] = {
    "plan": Planned,
    "start": Started,
    "result": Ended,
    "compare": Ended,
    "item": Timed,
    "lost": Lost,
    "cache": Cached,
    "block": Block,
    "descent": Descent,
    "searched": Searched,
}
