"""Workers: the threads that share the blocks of a sweep; each has device servers of its own.

Threads are enough for a few cores: while NumPy, the C library or a wait for a server takes time, other threads run.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from typing import Any

from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.device.processes.shared_memory import Segment
from tf_opdiff.harness.device.request import Bits, Request
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.sweep.measurements.oracle import Oracle
from tf_opdiff.harness.sweep.measurements.pieces import NORMAL
from tf_opdiff.harness.sweep.sweep import Sweep

#: The device servers of one worker.
Team = Mapping[Device, DeviceServer]
#: Takes the line of a finished block under a plan, and the number of its elements.
Note = Callable[[Plan, dict[str, Any], int], None]


class _Blocks(Iterator[tuple[int, int]]):
    """The blocks of a sweep, for several threads."""

    def __init__(self, blocks: Iterator[tuple[int, int]]) -> None:
        self._blocks, self._lock = blocks, threading.Lock()

    def __next__(self) -> tuple[int, int]:
        with self._lock:
            return next(self._blocks)

    def stop(self) -> None:
        """Leaves no more blocks."""
        with self._lock:
            self._blocks = iter(())


def run(sweep: Sweep, teams: Sequence[Team], shard: Shard, step: Callable[[int], None]) -> None:
    """Sweeps the remaining blocks, with a worker for each team; calls `step` with the elements of each finished block.

    Raises:
      ReferenceFault: the reference failed, or it is suspect. All workers have stopped.
    """
    blocks, write = _Blocks(sweep.blocks()), threading.Lock()

    def note(plan: Plan, line: dict[str, Any], size: int) -> None:
        with write:
            shard.write("block", **line)
            sweep.swept[plan].add(line)
            step(size)

    if len(teams) == 1:
        _work(sweep, teams[0], blocks, note)
        return
    with futures.ThreadPoolExecutor(len(teams)) as pool:
        try:
            for done in futures.as_completed([pool.submit(_work, sweep, team, blocks, note) for team in teams]):
                done.result()
        finally:
            blocks.stop()  # after a fault or an interruption, the other workers finish the blocks that they have


def _work(sweep: Sweep, team: Team, blocks: Iterator[tuple[int, int]], note: Note) -> None:
    """Sweeps blocks until none is left."""
    oracle = Oracle(sweep.case(NORMAL), len(sweep.plans))
    with _segments(team, min(sweep.block, sweep.hi - sweep.lo) * 8) as segments:
        for device, request, observation in run_all(team, _batches(sweep, blocks, segments), lambda *_: None):
            block, plan = request.inputs[0], Plan(device, request.mode)
            assert isinstance(block, Bits)
            line = sweep.line(plan, block, observation, oracle)
            del observation  # its arrays are views of a segment
            note(plan, line, block.size)


def _batches(
    sweep: Sweep, blocks: Iterator[tuple[int, int]], segments: Mapping[Device, Sequence[Segment]]
) -> Iterator[dict[Device, list[Request]]]:
    """The requests of each block that has some."""
    turns = {d: itertools.cycle(segments[d]) for d in segments}  # one is read while the server fills the other
    for lo, hi in blocks:
        batch = {d: [sweep.request(p, lo, hi, next(turns[d]).address) for p in sweep.plans_left(d, lo)] for d in turns}
        if any(batch.values()):
            yield batch


@contextlib.contextmanager
def _segments(devices: Mapping[Device, Any], size: int) -> Iterator[dict[Device, list[Segment]]]:
    """Two segments of shared memory for each device; closed at the end."""
    segments = {d: [Segment(size + 4096) for _ in range(2)] for d in devices}
    try:
        yield segments
    finally:
        for segment in itertools.chain(*segments.values()):
            segment.close()
