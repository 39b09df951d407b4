"""A run's wall time and memory as cases grow: floor in eager mode and in a v1 graph, 50 cases an item, one worker.

`worker` is the largest resident set of the pytest process, `server` that of its device server. `worker, end / tenth` is
the largest resident set over that when a tenth of the results were written: 1 means that memory does not grow. A small
run's report is written by the pytest process itself, which takes memory at the end; a large run's is not. Linear growth
means: the time of a case does not grow.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.ops.math.elementary.rounding import SPECS as ROUNDING

SIZES = (100, 1_000, 10_000)
PER_ITEM = 50
_FLOOR = next(spec for spec in ROUNDING if spec.name == "floor")


def _specs(count: int) -> tuple[Spec, ...]:
    recipes = {f"r{i}": plain for i in range(PER_ITEM)}
    return tuple(
        Spec(
            name=f"floor{n}",
            ops=_FLOOR.ops,
            program=_FLOOR.program,
            reference=_FLOOR.reference,
            vjp=_FLOOR.derivatives.vjp,
            recipes=recipes,
        )
        for n in range(count // PER_ITEM)
    )


SPECS = _specs(int(os.environ.get("TF_OPDIFF_GROWTH", PER_ITEM)))


def run(count: int, folder: Path) -> dict[str, object]:
    """A row of the table."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-o",
        "opdiff_suites=bench.measurements.growth",
        "-o",
        "opdiff_known=/dev/null",
    ]
    command += ["--mode", "eager", "--mode", "graph", f"--run-dir={folder}/{count}"]
    environment = {**os.environ, "TF_OPDIFF_GROWTH": str(count)}
    begin = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        server, samples = 0, [(0, 0)]
        while process.poll() is None:
            samples.append((_written(folder / str(count)), _rss(process.pid)))
            server = max([server, *(_rss(pid) for pid in _tree(process.pid))])
            time.sleep(0.05)
        assert process.stdout is not None
        output = process.stdout.read()
    seconds = time.perf_counter() - begin
    if process.returncode:
        raise RuntimeError(output[-2000:])
    records = int(re.search(r"(\d+) match", output.replace(",", ""))[1])  # type: ignore[index]
    worker, written = max(rss for _, rss in samples), max(size for size, _ in samples)
    tenth = next(rss for size, rss in samples if size >= written / 10)
    return {
        "cases": count,
        "records": records,
        "wall, s": seconds,
        "ms a case": 1000 * seconds / count,
        "worker, MiB": worker >> 20,
        "worker, end / tenth": worker / tenth,
        "server, MiB": server >> 20,
    }


def _written(run: Path) -> int:
    """The bytes in the shards of a run."""
    return sum(path.stat().st_size for path in (run / "shards").glob("*.jsonl"))


def _tree(root: int) -> list[int]:
    """The processes below one."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(") ")[2].split()[1])
            except OSError:
                continue
    found, todo = [], [root]
    while todo:
        children = [pid for pid, parent in parents.items() if parent == todo[0]]
        todo = todo[1:] + children
        found += children
    return found


def _rss(pid: int) -> int:
    """The resident set in bytes; 0 of a process that has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def rows() -> list[dict[str, object]]:
    """A row a size; the fixed cost of start and end shows in the first."""
    with tempfile.TemporaryDirectory() as folder:
        return [run(count, Path(folder)) for count in SIZES]
