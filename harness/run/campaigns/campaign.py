"""Campaign: one run over many machines, in batches that Ray hands to nodes; `python -m harness campaign`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tf_opdiff.harness.run.campaigns import cluster
from tf_opdiff.harness.run.campaigns.batch import Work
from tf_opdiff.harness.run.campaigns.batch import run as run_batch
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories import rundir

#: The most cases in a batch; and the batches for each CPU of a node, so that no CPU waits long for the last batch.
CASES = 50
TURNS = 4
#: How often an item runs before it is given up: in its batch, again in its batch, and alone.
ATTEMPTS = 3
#: Seconds without a result after which the campaign looks whether nodes are left.
PATIENCE = 10.0


def batches(items: Sequence[Item], slots: int) -> Iterator[list[Item]]:
    """Cuts items, in order, into batches of about equally many cases."""
    total = sum(len(item.cases) for item in items)
    size = max(1, min(CASES, total // (TURNS * max(1, slots))))
    batch: list[Item] = []
    for item in items:
        if batch and sum(len(i.cases) for i in batch) + len(item.cases) > size:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


class Campaign:
    """Runs items on the nodes of a cluster; see `ItemsRunner`.

    Its own shard holds the plan and the lost items; `notes` names items that were lost and ran again.
    """

    def __init__(self, work: Work, directory: Path, circumstances: Mapping[str, str]) -> None:
        """`circumstances` are those of the campaign, which every node must have."""
        self.shard = rundir.open_shard(directory, "campaign")
        self.done: Mapping[str, Sequence[Record]] = {}
        self.notes: list[str] = []
        self._work, self._directory, self._circumstances = work, directory, circumstances
        self._need = cluster.needs(work.live)
        self._results: dict[str, list[Record] | str] = {}
        self._pending: dict[Any, list[Item]] = {}  # Ray's task → its items
        self._losses: Counter[str] = Counter()

    def plan(self, items: Sequence[Item]) -> None:
        """Writes the items that will run to the shard, and submits them to the cluster."""
        self.shard.write("plan", items=[item.id for item in items])
        slots = int(sum(node["Resources"].get("CPU", 0) for node in cluster.able(self._need)))
        for part in batches([item for item in items if item.id not in self.done], slots):
            self._submit(part)

    def _submit(self, items: list[Item]) -> None:
        task = cluster.engine().remote(run_batch).options(max_retries=0, name=f"{items[0].id}…", **self._need)
        self._pending[task.remote(self._work, [item.id for item in items], self._circumstances)] = items

    def run(self, item: Item) -> list[Record]:
        """All records of an item, as soon as its batch has come back; fails if the item was given up."""
        if item.id in self.done:
            return list(self.done[item.id])
        while item.id not in self._results:
            self._wait()
        result = self._results.pop(item.id)
        if isinstance(result, str):
            pytest.fail(result, pytrace=False)
        return result

    def _wait(self) -> None:
        ray = cluster.engine()
        ready, _ = ray.wait(list(self._pending), timeout=PATIENCE)
        for task in ready:
            items = self._pending.pop(task)
            try:
                results, lines = ray.get(task)
            except ray.exceptions.RayError as error:
                self._lost(items, cluster.reason(error))
            else:
                self._save(lines)
                self._results.update(results)
        if not ready and not cluster.able(self._need):
            for items in self._pending.values():
                self._give_up(items, cluster.lacking(self._need))
            self._pending.clear()

    def _save(self, lines: bytes) -> None:
        """Writes the lines of a node's shard into the run directory, in one step."""
        path = rundir.shard_path(self._directory, f"batch-{os.getpid()}")
        temporary = path.with_suffix(".tmp")
        temporary.write_bytes(lines)
        os.replace(temporary, path)

    def _lost(self, items: list[Item], why: str) -> None:
        """Runs a batch again whose node was lost, or gives its items up."""
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
            self._results[item.id] = f"{item.id} has no result: {why}"

    def close(self) -> None:
        """Leaves the cluster, which ends the tasks of this campaign, and closes the shard."""
        for items in self._pending.values():
            self.shard.write("lost", items=[item.id for item in items], why="cut off")
        cluster.engine().shutdown()
        self.shard.close()
