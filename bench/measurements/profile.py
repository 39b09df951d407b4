"""Where the wall time of the benchmark `overhead` goes: samples of the main thread of each pytest process.

`one` and `two` are the runs of that benchmark, with one worker and with two. `waiting` is the time in which a worker
waits for its device server, or the controller for its workers. `inputs` makes inputs and computes references;
`comparison` compares and judges; `records` writes and merges them; `report` writes the pages. `start` is pytest, and
the import of packages, specs and tests. Figures are seconds; `other` is the rest of a process's life. A worker begins
after the controller has started. It works out its next case while its server runs the last: what it waits for is the
server alone, with TensorFlow's import.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from pathlib import Path

from bench import timed_run
from bench.measurements.overhead import chosen
from bench.measurements.sampler import shares

#: column → the places whose samples it adds; see `bench.measurements.sampler.shares`.
COLUMNS = {
    "waiting": ("waiting", "execnet"),
    "inputs": ("harness.spec", "suites.ops", "suites.forms", "suites.reference", "suites.derived", "suites.programs"),
    "comparison": ("harness.judge",),
    "records": ("harness.store",),
    "report": ("reports.",),
    "start": ("pytest and imports",),
}


def rows() -> list[dict[str, object]]:
    """A row for each process of each run."""
    specs = [*dict.fromkeys(item.spec.name for item in chosen())]
    made: list[dict[str, object]] = []
    for workers, name in ((1, "one"), (2, "two")):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["BENCH_SAMPLES"] = folder
            options = ("--no-cache", "-p", "bench.measurements.sampler")
            wall = timed_run(Path(folder, "run"), specs, *options, workers=workers)
            processes = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
        for process in sorted(processes, key=lambda process: process["role"]):
            parts = shares(Counter(process["places"]), COLUMNS)
            seconds = {name: share * process["seconds"] for name, share in parts.items()}
            seconds["start"] += process["before"]
            shown = {name: round(part, 1) for name, part in seconds.items()}
            made.append({"run": name, "process": process["role"], "wall, s": wall, **shown})
    del os.environ["BENCH_SAMPLES"]
    return made
