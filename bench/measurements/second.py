"""The second of two equal runs over the first, which fills an empty cache of inputs and promises.

The runs have seven families of the default tier, without sweeps and without programs of findings, in two workers with
their device servers, from the start of `pytest` to the written report. CPU seconds are those of all processes. The
goal is 0.6 of the first. By default, a run keeps inputs and promises, which are a small part of its time: see `inputs`
in the benchmark `profile`. With `--xla-cache`, it keeps the programs that XLA compiled as well.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
import tempfile
from pathlib import Path

from bench import apart, timed_run
from tf_opdiff.harness.store.run_directories.run_info import RunInfo

FAMILIES = ("bessel", "control_dependencies", "exponential", "gather", "integers", "rounding", "select")
_PR_SET_CHILD_SUBREAPER = 36


def measured(folder: Path, *options: str) -> tuple[float, float]:
    """Wall and CPU seconds of a run into this folder, with the processes that outlive pytest."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wall = timed_run(folder, FAMILIES, *options, workers=2)
    while True:  # fork servers, which end after their workers
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, used.ru_utime + used.ru_stime


def rows() -> list[dict[str, object]]:
    """A row for each run, without and with programs of XLA that are kept."""
    return [row for option in ("", "--xla-cache") for row in pair(option)]


def pair(option: str) -> list[dict[str, object]]:
    """The rows of two runs with this option, if any."""
    table: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TF_OPDIFF_CACHE"] = f"{folder}/cache"
        for number in (1, 2):
            run = Path(folder, f"run{number}")
            wall, cpu = map(float, apart("-m", "bench.measurements.second", str(run), *filter(None, [option])).split())
            first = table[0] if table else {"wall, s": wall, "CPU, s": cpu}
            ratios = {
                f"{name} / first": value / float(str(first[f"{name}, s"]))
                for name, value in (("wall", wall), ("CPU", cpu))
            }
            use = RunInfo.load(run).cache["inputs and promises"]
            table.append({"option": option, "run": number, "cache": use, "wall, s": wall, "CPU, s": cpu, **ratios})
    del os.environ["TF_OPDIFF_CACHE"]
    return table


if __name__ == "__main__":
    print(*measured(Path(sys.argv[1]), *sys.argv[2:]))
