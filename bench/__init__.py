"""Benchmarks: what the harness costs compared with the bare work, as ratios within one run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tf_opdiff.harness.paths import ROOT


def apart(*arguments: str) -> str:
    """The last line that Python prints, run with these arguments in a process of its own, on the CPU.

    Raises:
      RuntimeError: it failed.
    """
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, env=quiet)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout.splitlines()[-1]


def timed_run(folder: Path, ops: Iterable[str], *options: str, workers: int) -> float:
    """Wall seconds of a run of some ops into a folder, without sweeps, from the start of pytest to the written report.

    Raises:
      RuntimeError: the run had a fault.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "--no-sweep", "--repro", "none", *options]
    command += [f"--run-dir={folder}", *(f"--op={name}" for name in ops), "suites"]
    begin = time.perf_counter()
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    return time.perf_counter() - begin
