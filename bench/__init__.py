"""Benchmarks: what the harness costs beside the bare work, as ratios within one run."""

from __future__ import annotations

import os
import subprocess
import sys

from tf_opdiff.harness.paths import ROOT


def apart(*arguments: str) -> str:
    """The last line that Python prints, run with these arguments in a process of its own, on the CPU.

    Raises:
      CalledProcessError: it failed.
    """
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True, env=quiet)
    return done.stdout.splitlines()[-1]
