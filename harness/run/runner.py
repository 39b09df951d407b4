"""Runner: runs items on this machine when its devices are free, and writes their lines to a shard."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.run import item_sweeps
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.shards.cell_lines import CellWriter
from tf_opdiff.harness.store.shards.shard import Shard


@dataclass
class Runner:
    """Runs items on the device servers of one worker, and appends their records to that worker's shard.

    Attributes:
      cases: runs and judges the cases of items.
      slots: the worker's slots on the devices; without them, other workers use the devices.
      sweeps: whether sweeps of every input of a 16-bit dtype run too.
      done, notes: see `ItemsRunner`.
    """

    cases: CaseRunner
    shard: Shard
    slots: Slots
    sweeps: bool = False
    done: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def plan(self, items: Sequence[Item]) -> None:
        """Writes the items that will run to the shard."""
        self.shard.write("plan", items=[item.id for item in items])

    def run(self, item: Item) -> list[Record]:
        """Runs an item, unless it is done; returns all its records."""
        if item.id in self.done:
            return list(self.done[item.id])
        self.slots.acquire()
        began, writer = time.monotonic(), CellWriter(self.shard)
        try:
            self.cases.run(item, writer)
            if self.sweeps:
                item_sweeps.run(self.cases, item, self.shard, writer)
            return writer.records
        finally:
            self.shard.write("item", item=item.id, seconds=round(time.monotonic() - began, 3))
            if self.slots.release_if_wanted():
                self._stop()

    def close(self) -> None:
        """Ends the servers and closes the shard."""
        self._stop()
        cache = self.cases.cache
        if cache:
            cache.flush()
            self.shard.write("cache", read=cache.read, computed=cache.computed, off=cache.off)
        self.slots.release()
        self.shard.close()

    def _stop(self) -> None:
        for server in self.cases.servers.values():
            server.stop()
