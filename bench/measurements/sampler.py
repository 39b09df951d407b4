"""Samples of the stack of a process's main thread: which of our modules is at work.

As a pytest plugin, `pytest -p bench.measurements.sampler`, it writes counts by place to `$BENCH_SAMPLES/<process
id>.json` when pytest ends. A place is the module of the innermost frame of ours, or what a process without such a
frame does.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

#: Seconds between two samples.
STEP = 0.005
_STACK = contextlib.ExitStack()


def place(frame: FrameType | None) -> str:
    """Where a stack is: a module of ours, without the package's name; waiting; or other code."""
    inner = frame
    while frame:
        module = frame.f_globals.get("__name__", "")
        if module in ("select", "selectors", "multiprocessing.connection", "queue", "threading"):
            return "waiting"
        if module.startswith("tf_opdiff."):
            return module.removeprefix("tf_opdiff.")
        frame = frame.f_back
    return "execnet" if inner and "execnet" in inner.f_globals.get("__name__", "") else "pytest and imports"


@contextlib.contextmanager
def sampled() -> Iterator[Counter[str]]:
    """Yields the number of samples by place; a thread adds to them until the block ends."""
    counts: Counter[str] = Counter()
    end, main = threading.Event(), threading.main_thread().ident
    assert main is not None

    def sample() -> None:
        while not end.wait(STEP):
            counts[place(sys._current_frames().get(main))] += 1

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield counts
    finally:
        end.set()
        thread.join()


def shares(counts: Counter[str], columns: dict[str, tuple[str, ...]]) -> dict[str, float]:
    """The share of the samples in each column: of the places that begin with one of its texts; `other` has the rest."""
    found = dict.fromkeys((*columns, "other"), 0.0)
    for at, samples in counts.items():
        name = next((name for name, starts in columns.items() if at.startswith(starts)), "other")
        found[name] += samples / counts.total()
    return found


def _age() -> float:
    """Seconds since this process began."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")


def pytest_configure() -> None:
    """Starts to sample."""
    before, begin, counts = _age(), time.monotonic(), _STACK.enter_context(sampled())

    def write() -> None:
        role = os.environ.get("PYTEST_XDIST_WORKER", "controller")
        found = {"role": role, "before": before, "seconds": time.monotonic() - begin, "places": counts}
        Path(os.environ["BENCH_SAMPLES"], f"{os.getpid()}.json").write_text(json.dumps(found))

    _STACK.callback(write)


def pytest_unconfigure() -> None:
    """Writes what was sampled."""
    _STACK.close()
