"""Bench: a sweep's rate against the bare cost of the same work, on one core and on two.

Bare is the op alone, with its gradient, on tensors that are there, and after it the NumPy reference and VJP alone, from
float32 to float64 and back: in one process, on one core, block by block over the same bit patterns, eager. It is
measured twice: as an ordinary script does it, and with pages kept mapped between blocks, as the sweep does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness.catalog import Catalog, Item
from harness.devices import DeviceServer
from harness.plan import Device, Plan
from harness.record import Shard
from harness.request import Bits, Cycle
from harness.sweep import heap
from harness.sweep.oracle import UPSTREAM
from harness.sweep.sweep import BLOCK, Sweep

OPS = ("floor", "exp", "tanh", "rsqrt")
LO, BLOCKS = 0x3E000000, 96  # 0.125 to 2^10


def bare(item: Item) -> tuple[float, float]:
    """Seconds that the op takes over all blocks, and seconds that the reference takes."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    spec, op, reference = item.spec, 0.0, 0.0
    for n in range(-3, BLOCKS):  # the first three are warming up
        lo = LO + max(n, 0) * BLOCK
        x, g = Bits("float32", lo, lo + BLOCK).array(), Cycle("float32", UPSTREAM, lo, BLOCK).array()
        tx, tg = tf.constant(x), tf.constant(g)
        begin = time.perf_counter()
        with tf.GradientTape() as tape:
            tape.watch(tx)
            y = spec.program(tf, tx)
        tape.gradient(y, tx, output_gradients=tg)
        middle = time.perf_counter()
        with np.errstate(all="ignore"):
            wide = x.astype(np.float64)
            spec.reference(wide).astype(np.float32)
            if spec.vjp and (gradient := spec.vjp(g, wide)) is not None:
                gradient.astype(np.float32)
        end = time.perf_counter()
        if n >= 0:
            op, reference = op + middle - begin, reference + end - middle
    return op, reference


def swept(item: Item, folder: Path) -> float:
    """Seconds that the sweep takes over all blocks, the server's start left out."""
    device = Device("cpu")
    servers = {device: DeviceServer(device, folder)}
    shard = Shard(folder / f"{time.monotonic_ns()}.jsonl")
    try:
        for count in (3, BLOCKS):
            begin = time.perf_counter()
            Sweep(item, [Plan(device, "eager")], LO, LO + count * BLOCK).run(servers, shard, lambda n: None)
        return time.perf_counter() - begin
    finally:
        servers[device].stop()
        shard.close()


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bare", help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    wanted = options.bare
    if options.keep:
        heap.keep()
    items = {item.id: item for item in Catalog.load("suites").items}
    cores = os.sched_getaffinity(0)
    if wanted:
        print(*bare(items[wanted]))
        return
    size = BLOCKS * BLOCK / 1e6
    print("M elements/s; ratio = sweep / bare, both on one core; gain = two cores / one core")
    heads = ("op", "bare", "op alone", "NumPy", "both", "sweep", "ratio", "2 cores", "gain")
    print("".join(f"{h:>9}" for h in heads))
    with tempfile.TemporaryDirectory() as folder:
        for name in OPS:
            item = items.get(f"{name}-float32")
            if item is None:
                print(f"{name:>9} no such spec")
                continue
            one, two = _on({min(cores)}, item, folder), _on(cores, item, folder)
            for kept in ((), ("--keep",)):
                op, reference = _bare(item, {min(cores)}, kept)
                rates = [size / s for s in (op, reference, op + reference, one)]
                print(f"{name:>9}{'kept' if kept else 'ordinary':>9}" + "".join(f"{r:9.1f}" for r in rates), end="")
                print(f"{(op + reference) / one:9.2f}{size / two:9.1f}{one / two:9.2f}", flush=True)


def _bare(item: Item, cores: set[int], options: tuple[str, ...]) -> tuple[float, float]:
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    code = (
        f"import os, sys; os.sched_setaffinity(0, {cores!r}); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    )
    command = [sys.executable, "-c", code, __file__, "--bare", item.id, *options]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=quiet).stdout
    op, reference = map(float, output.split()[-2:])
    return op, reference


def _on(cores: set[int], item: Item, folder: str) -> float:
    """The sweep's seconds on the given cores, in a process of its own, for servers inherit where they may run."""
    code = (
        f"import os, sys; os.sched_setaffinity(0, {cores!r}); sys.path[:0] = {[str(Path(__file__).parent.parent)]!r};"
        "from pathlib import Path; from bench import sweep;"
        f"items = {{i.id: i for i in sweep.Catalog.load('suites').items}}; sweep.heap.keep();"
        f"print(sweep.swept(items[{item.id!r}], Path({folder!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
