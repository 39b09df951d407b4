"""A sweep's rate against the bare cost of the same work: float32, eager, millions of elements a second.

Bare is the op alone, with its gradient if the sweep has one, on existing tensors, and then the NumPy reference from
float32 to float64 and back: in one process, on one core, block by block over the same bit patterns. `bare` keeps its
pages mapped between blocks, as the sweep does; `ordinary` leaves them to the C library, as scripts do. `ratio` is
sweep over bare, both on one core; `gain` is the sweep on two cores, with a worker and a device server for each, over
one. Shares are those of the CPU time on one core. The `server` makes the inputs, runs the op and copies results. The
others are those of the worker, by samples of its stack: `inputs` are made once more, `reference` computes the promises,
`comparison` is the pass over results and the closer look at some elements; `other` sums up blocks and writes lines.
Memory is the largest resident set of the sweep's process and of a device server.
Tried: blocks of four times the size, which take 1/1.4 to 1/1.8 of the CPU time of an element, and were kept; and the
comparison in C with vector types, in one pass, which took 1.05 ns an element in place of 1.47 for exp and 0.95 in place
of 0.98 for floor, and was dropped: GCC 12 ended with an internal error on it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bench import apart
from bench.measurements.sampler import sampled, shares
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.device.request import Bits, Cycle
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.tolerances.precision import quick
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.sweep import workers
from tf_opdiff.harness.sweep.measurements import allocator
from tf_opdiff.harness.sweep.measurements.block_promises import UPSTREAM
from tf_opdiff.harness.sweep.sweep import BLOCK, Sweep

#: column → the places whose samples it adds; see `bench.measurements.sampler.shares`.
PARTS = {
    "waiting": ("waiting",),
    "inputs": ("harness.device.request",),
    "reference": ("suites", "harness.spec", "harness.judge.promises.reference", "harness.judge.promises.expectation"),
    "comparison": (
        "harness.sweep.measurements.measure",
        "harness.sweep.measurements.promise",
        "harness.judge.differences.difference",
    ),
}
#: Pairs: a swept op, and whether its gradient is swept too.
OPS = (
    ("floor", False),
    ("exp", False),
    ("exp", True),
    ("tanh", False),
    ("tanh", True),
    ("rsqrt", False),
    ("rsqrt", True),
)
LO, BLOCKS = -(-0x3E000000 // BLOCK) * BLOCK, 27  # 0.125 to 2^9


def bare(item: Item) -> dict[str, float]:
    """Seconds that the op takes over all blocks, and that the reference takes."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    spec, op, reference = item.spec, 0.0, 0.0
    for n in range(-3, BLOCKS):  # the first three are warming up
        lo = LO + max(n, 0) * BLOCK
        x, g = Bits("float32", lo, lo + BLOCK).array(), Cycle("float32", UPSTREAM, lo, BLOCK).array()
        tx, tg = tf.constant(x), tf.constant(g)
        begin = time.perf_counter()
        if spec.derivatives.vjp:
            with tf.GradientTape() as tape:
                tape.watch(tx)
                y = spec.program(tf, tx)
            tape.gradient(y, tx, output_gradients=tg)
        else:
            spec.program(tf, tx)
        middle = time.perf_counter()
        with np.errstate(all="ignore"), quick():
            wide = x.astype(np.float64)
            spec.reference(wide).astype(np.float32)
            if spec.derivatives.vjp:
                spec.derivatives.vjp(g.astype(np.float64), wide).astype(np.float32)
        end = time.perf_counter()
        if n >= 0:
            op, reference = op + middle - begin, reference + end - middle
    return {"op": op, "reference": reference}


def swept(item: Item) -> dict[str, Any]:
    """Seconds that the sweep takes over all blocks, the server's start left out, by part; memory in MiB."""
    device = Device("cpu")
    with tempfile.TemporaryDirectory() as folder:
        teams = [{device: DeviceServer(device, Path(folder))} for _ in os.sched_getaffinity(0)]
        shard = Shard(Path(folder, "sweep.jsonl"))
        try:
            used = 0.0
            for count in (3 * len(teams), BLOCKS):
                begin, worked = time.perf_counter(), time.process_time()
                if count == BLOCKS:
                    used = -sum(_cpu(team[device].pid) for team in teams)
                sweep = Sweep(item, [Plan(device, "eager")], LO, LO + count * BLOCK)
                with sampled() as samples:
                    workers.run(sweep, teams, shard, lambda n: None)
            seconds = time.perf_counter() - begin
            worked = time.process_time() - worked
            used += sum(_cpu(team[device].pid) for team in teams)
            server = max(_resident(team[device].pid) for team in teams)
        finally:
            for team in teams:
                team[device].stop()
            shard.close()
    return {
        "seconds": seconds,
        "worker": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "server": server,
        "shares": _cpu_shares(used, worked, shares(samples, PARTS)),
    }


def _cpu_shares(server: float, worker: float, samples: dict[str, float]) -> dict[str, float]:
    """Shares of the CPU seconds of both processes; `samples` are shares of the worker's wall time."""
    busy = 1 - samples.pop("waiting")
    parts = {name: worker * share / busy / (server + worker) for name, share in samples.items()}
    return {"server": server / (server + worker), **parts}


def _cpu(pid: int) -> float:
    """The CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> float:
    """The largest resident set that a process has had, in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def rows() -> list[dict[str, object]]:
    """A row an op, without and with its gradient."""
    cores = os.sched_getaffinity(0)
    first = {min(cores)}
    made: list[dict[str, object]] = []
    for op, gradient in OPS:
        kept, ordinary = (_alone("bare", op, gradient, first, keep) for keep in (True, False))
        one, two = (_alone("swept", op, gradient, where, True) for where in (first, cores))
        rate = BLOCKS * BLOCK / 1e6
        seconds = kept["op"] + kept["reference"]
        made.append(
            {
                "op": f"{op} and gradient" if gradient else op,
                "op alone": rate / kept["op"],
                "NumPy": rate / kept["reference"],
                "bare": rate / seconds,
                "ordinary": rate / (ordinary["op"] + ordinary["reference"]),
                "sweep": rate / one["seconds"],
                "ratio": seconds / one["seconds"],
                f"{len(cores)} cores": rate / two["seconds"],
                "gain": one["seconds"] / two["seconds"],
                **{f"{name}, %": round(100 * share) for name, share in one["shares"].items()},
                "worker, MiB": round(two["worker"]),
                "server, MiB": round(two["server"]),
            }
        )
    return made


def _alone(what: str, op: str, gradient: bool, cores: set[int], keep: bool) -> Any:
    """One measurement, in a process of its own, on the given cores: device servers inherit where they may run."""
    arguments = [what, op, *(["--gradient"] if gradient else []), *(["--keep"] if keep else [])]
    code = (
        f"import os, sys; os.sched_setaffinity(0, {cores!r});"
        f"os.execv(sys.executable, [sys.executable, '-m', 'bench.measurements.sweep', *{arguments!r}])"
    )
    return json.loads(apart("-c", code))


def main() -> None:
    """Prints one measurement as JSON; `python -m bench sweep` makes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("bare", "swept"))
    parser.add_argument("op")
    parser.add_argument("--gradient", action="store_true")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.keep:
        allocator.keep()
    found = next(i for i in Catalog.load("tf_opdiff.suites").items if i.id == f"{options.op}-float32")
    item = found if options.gradient else replace(found, spec=replace(found.spec, vjp=None))
    print(json.dumps(bare(item) if options.what == "bare" else swept(item)))


if __name__ == "__main__":
    main()
