"""Record: one verdict, flattened to a row."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from tf_opdiff.harness.store.formats.json_text import finite

VERDICTS = ("match", "contract", "known", "mismatch", "stale", "error", "unavailable")
FAILING = ("mismatch", "stale", "error")
#: The beginning of `against` for a claim; the claim's id follows.
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
    `harness.judge.differences.simplest`) of those with the same kind; `distance` says in words how far off the worst
    element is, where a distance makes sense. `attrs` is the label of the keyword arguments of the case; empty where
    its spec has none. `kinds` are all kinds by which the result differs, `;`-joined in the order of `KINDS`, and `kind`
    is the one that the record shows: the first that nobody has explained, or else that of the first cause. `kinds` is
    empty in records of earlier versions. `cause` are the ids of the causes that explain the kinds, `;`-joined, the most
    severe first; `owner`, `reason`, `link` and `severity` are those of the first. The severity of a difference that
    nobody has explained is by the rule; see `harness.judge.verdicts.severity`. `planted` is the number of faults that
    the run planted in this result in addition to its known failures, and `unseen` has the names of those that it would
    not have noticed, `;`-joined.
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
    severity: str = ""
    kinds: str = ""
    planted: int = 0
    unseen: str = ""

    @property
    def every_kind(self) -> tuple[str, ...]:
        """All kinds of difference, in the order of `KINDS`; the shown one in a record of an earlier version."""
        return tuple(filter(None, (self.kinds or self.kind).split(";")))

    @property
    def failing(self) -> bool:
        return self.verdict in FAILING

    @property
    def known_reason(self) -> str:
        """The reason of a known failure. Empty for a failure that nobody has explained."""
        return self.reason if self.verdict in ("known", "stale") else ""

    @property
    def plan(self) -> str:
        """The name of the record's plan, in the form of `against`."""
        return f"{self.device}/{self.mode}"

    def to_json(self) -> dict[str, Any]:
        """The row as JSON-able data."""
        return finite(vars(self))

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Reads the data of `to_json`. Equal texts share memory, because most texts recur."""
        values: dict[str, Any] = {k: sys.intern(v) if type(v) is str else v for k, v in row.items()}
        values.update({k: float(row[k]) for k in _FLOATS if not isinstance(row.get(k, 0.0), float)})
        return cls(**values)


COLUMNS = tuple(f.name for f in fields(Record))
#: Columns that older files do not have.
ADDED = COLUMNS[COLUMNS.index("rerun") + 1 :]
_FLOATS = {f.name for f in fields(Record) if f.type == "float"}
