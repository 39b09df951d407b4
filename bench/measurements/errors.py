"""The share of a run's time that its error profiles take, and their size in its directory.

The run has a few ops of the default tier with their sweeps of 16-bit dtypes, in one process and its device server, from
the start of `pytest` to the written report. `profiles` are the seconds in which it measures distances for profiles,
sorts them into bins, packs and unpacks them, and writes the two tables. Bytes are those of `errors.parquet`,
`error_histogram.parquet` and, as `shards`, of the profiles in the lines of the shards.
"""

from __future__ import annotations

import functools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import apart
from tf_opdiff.harness.cases import item_judge
from tf_opdiff.harness.judge.differences import error_bins
from tf_opdiff.harness.store.records.error_profile import ErrorProfile
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.shards.shard import read_shard
from tf_opdiff.harness.sweep.measurements.promise import Promise
from tf_opdiff.reports.data.figures import error_frames
from tf_opdiff.reports.data.figures.errors import ERRORS, HISTOGRAM, load_errors
from tf_opdiff.reports.data.run_data import parquet

OPS = ("exp", "floor", "gather", "pow")


class _Clock:
    """Adds up the seconds inside of some functions; a call inside of another one counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inside = False

    def watch(self, owner: Any, name: str, only: Callable[..., bool] = lambda *_, **__: True) -> None:
        """Counts the calls of a function for whose arguments `only` holds."""
        function = getattr(owner, name)

        @functools.wraps(function)
        def timed(*arguments: Any, **more: Any) -> Any:
            if self._inside or not only(*arguments, **more):
                return function(*arguments, **more)
            self._inside, begin = True, time.perf_counter()
            try:
                return function(*arguments, **more)
            finally:
                self._inside, self.seconds = False, self.seconds + time.perf_counter() - begin

        setattr(owner, name, staticmethod(timed) if hasattr(function, "__self__") else timed)  # a class method


def run(folder: Path) -> dict[str, float]:
    """Runs the ops in this process; returns the seconds of the run and of its profiles."""
    clock, begin = _Clock(), time.perf_counter()
    clock.watch(item_judge, "profiles")
    clock.watch(error_frames, "frames")
    clock.watch(parquet, "write", lambda _, path, **__: path.name in (ERRORS, HISTOGRAM))
    for owner, names in (
        (Promise, ["distances"]),
        (error_bins.Bins, ["of", "profile"]),
        (ErrorProfile, ["to_json", "from_json", "__add__"]),
    ):
        for name in names:
            clock.watch(owner, name)
    options = ["-q", "-n", "0", "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # tf_opdiff is imported already
    status = pytest.main([*options, f"--run-dir={folder}", *(f"--op={op}" for op in OPS), "suites"])
    if status not in (0, 1):
        raise RuntimeError(f"pytest ended with {status}")
    return {"run": time.perf_counter() - begin, "profiles": clock.seconds}


def rows() -> list[dict[str, object]]:
    """The row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder, "run")
        seconds = json.loads(apart("-m", "bench.measurements.errors", str(directory)))
        tables = {name: (directory / name).stat().st_size for name in (ERRORS, HISTOGRAM)}
        lines = [line for path in rundir.shards(directory) for line in read_shard(path) if line]
        profiles = [line[name] for line in lines for name in ("errors", "profiles") if name in line]
        bins = len(load_errors(directory))
    return [
        {
            "run, s": seconds["run"],
            "profiles, s": seconds["profiles"],
            "profiles / run (goal 0.03)": seconds["profiles"] / seconds["run"],
            "rows": bins,
            **{f"{name}, bytes": size for name, size in tables.items()},
            "shards, bytes": len(json.dumps(profiles)),
        }
    ]


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]))))
