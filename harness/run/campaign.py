"""Campaign: one run over many machines, in batches that Ray hands to nodes; `python -m harness campaign`.

To pytest a campaign is what runs items, as a `Runner` is on one machine, so that everything else is as in any session.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tf_opdiff.harness.run import batch, cluster
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.store import rundir
from tf_opdiff.harness.store.record import Record

#: Cases to a batch, at most; and how many batches a node's CPU should find, so that none waits long for the last.
CASES = 50
TURNS = 4
#: How often an item is given to a node: in its batch, again in its batch, and alone.
ATTEMPTS = 3
#: Seconds without a result after which the nodes are counted.
PATIENCE = 10.0


def batches(items: Sequence[Item], slots: int) -> Iterator[list[Item]]:
    """Cuts items, in order, into batches of about as many cases."""
    total = sum(len(item.cases) for item in items)
    size = max(1, min(CASES, total // (TURNS * max(1, slots))))
    held: list[Item] = []
    for item in items:
        if held and sum(len(i.cases) for i in held) + len(item.cases) > size:
            yield held
            held = []
        held.append(item)
    if held:
        yield held


class Campaign:
    """Runs items on the nodes of a cluster. What it keeps of its own is the plan and what was lost.

    `done` has the records of items that are not to be run again, as of a `Runner`. `notes` says what was lost, and that
    it was run again.
    """

    def __init__(self, work: batch.Work, directory: Path, expected: Mapping[str, str]) -> None:
        self.shard = rundir.open_shard(directory, "campaign")
        self.done: Mapping[str, Sequence[Record]] = {}
        self.notes: list[str] = []
        self._work, self._directory, self._expected = work, directory, expected
        self._need = cluster.needs(work.live)
        self._found: dict[str, list[Record] | str] = {}
        self._pending: dict[Any, list[Item]] = {}
        self._losses: Counter[str] = Counter()

    def plan(self, items: Sequence[Item]) -> None:
        """Writes what is going to be run, and gives it to the cluster."""
        self.shard.write("plan", items=[item.id for item in items])
        slots = int(sum(node["Resources"].get("CPU", 0) for node in cluster.able(self._need)))
        for part in batches([item for item in items if item.id not in self.done], slots):
            self._submit(part)

    def _submit(self, items: list[Item]) -> None:
        task = cluster.engine().remote(batch.run).options(max_retries=0, name=f"{items[0].id}…", **self._need)
        self._pending[task.remote(self._work, [item.id for item in items], self._expected)] = items

    def run(self, item: Item) -> list[Record]:
        """All records of an item, as soon as its batch has come back; fails where it never will."""
        if item.id in self.done:
            return list(self.done[item.id])
        while item.id not in self._found:
            self._wait()
        found = self._found.pop(item.id)
        if isinstance(found, str):
            pytest.fail(found, pytrace=False)
        return found

    def _wait(self) -> None:
        ray = cluster.engine()
        ready, _ = ray.wait(list(self._pending), timeout=PATIENCE)
        for task in ready:
            items = self._pending.pop(task)
            try:
                found, lines = ray.get(task)
            except ray.exceptions.RayError as error:
                self._lost(items, cluster.reason(error))
            else:
                self._keep(lines)
                self._found.update(found)
        if not ready and not cluster.able(self._need):
            for items in self._pending.values():
                self._give_up(items, cluster.lacking(self._need))
            self._pending.clear()

    def _keep(self, lines: bytes) -> None:
        """Adds what a node's shard held to the run's, in one step."""
        path = rundir.shard_path(self._directory, f"batch-{os.getpid()}")
        temporary = path.with_suffix(".tmp")
        temporary.write_bytes(lines)
        os.replace(temporary, path)

    def _lost(self, items: list[Item], why: str) -> None:
        """Has a batch run again whose node was lost; or says that its items never gave a result."""
        self._losses.update(item.id for item in items)
        losses = max(self._losses[item.id] for item in items)
        if losses >= ATTEMPTS:
            self._give_up(items, f"lost {losses} times: {why}")
            return
        self.notes.append(f"{', '.join(item.id for item in items)}: lost, and run again ({why})")
        for part in [items] if losses == 1 else [[item] for item in items]:
            self._submit(part)

    def _give_up(self, items: list[Item], why: str) -> None:
        self.shard.write("lost", items=[item.id for item in items], why=why)
        for item in items:
            self._found[item.id] = f"{item.id} has no result: {why}"

    def close(self) -> None:
        """Leaves the cluster, which ends what still runs for this campaign, and closes the shard."""
        for items in self._pending.values():
            self.shard.write("lost", items=[item.id for item in items], why="cut off")
        cluster.engine().shutdown()
        self.shard.close()
