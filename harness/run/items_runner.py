"""Items runner: the interface by which a pytest session runs items, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.store.records.record import Record


class ItemsRunner(Protocol):
    """Runs the items of one process: a `Runner` does so on this machine, a `Campaign` on the nodes of a cluster.

    Attributes:
      done: item id → records, of the items that must not run again.
      notes: lines for the end of the terminal's output.
    """

    done: Mapping[str, Sequence[Record]]

    @property
    def notes(self) -> Sequence[str]: ...

    def plan(self, items: Sequence[Item]) -> None:
        """Writes the plan: the items that will run. Called once, before `run`."""

    def run(self, item: Item) -> list[Record]:
        """Runs an item; returns all its records."""

    def close(self) -> None:
        """Ends everything that runs, and closes the shard."""
