"""Cell lines: the lines of a shard about cells: their start, their result, and their comparison with other plans."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.shards.shard import Shard


@dataclass(frozen=True, kw_only=True)
class CellLine:
    """The records of a cell, of one kind.

    Attributes:
      kind: `result`, with records against promises and claims, or `compare`, with those against plans.
      case, device, mode: the cell.
      records: the records.
      more: in a result line the observation, its digests and its error profiles; see
        `harness.store.shards.line_types.Ended`.
    """

    kind: str
    case: str
    device: str
    mode: str
    records: Sequence[Record]
    more: Mapping[str, Any] = field(default_factory=dict)


class CellWriter:
    """Takes the lines of cells, appends them to a shard, if there is one, and keeps their records."""

    def __init__(self, shard: Shard | None = None) -> None:
        self._shard = shard
        self._records: dict[tuple[str, str, str, str], Sequence[Record]] = {}

    def start(self, case: str, device: str, mode: str) -> None:
        """Notes that a cell starts to run."""
        if self._shard:
            self._shard.write("start", case=case, device=device, mode=mode, at=time.time())

    def add(self, line: CellLine) -> None:
        """Takes a line, which replaces an earlier one of its cell and kind."""
        cell = {"case": line.case, "device": line.device, "mode": line.mode}
        self._records[line.kind, line.case, line.device, line.mode] = line.records
        if self._shard:
            self._shard.write(line.kind, **cell, records=[record.to_json() for record in line.records], **line.more)

    @property
    def records(self) -> list[Record]:
        """The records of all lines, in the order of the cells' first lines."""
        return [record for records in self._records.values() for record in records]
