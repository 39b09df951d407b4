"""Forked Python: programs that need TensorFlow run in forks of the fork server, which has imported it.

An import of TensorFlow costs four seconds of CPU. Programs that have to run with other environment variables, or
without this project on their path, need a process of their own instead.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from multiprocessing.connection import wait
from pathlib import Path

from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.process import Child
from tf_opdiff.harness.device.processes.python_program import run_program
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.system.interrupt import uninterrupted
from tf_opdiff.harness.tests.patience import PATIENCE


def forked_python(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What `python WORDS` prints and returns: `-c PROGRAM`, `-m MODULE` or `FILE`, and arguments. It sees no GPU."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder, name) for name in ("stdout", "stderr")]
        with uninterrupted():
            child = Child(_run, words, outputs, str(cwd), log=Path(folder, "fork-server.log"))
        ended = wait([child.end], timeout=PATIENCE)
        how = child.kill()
        assert ended, f"{words} has not ended after {PATIENCE} seconds"
        status = int(how.removeprefix("EXIT ")) if how.startswith("EXIT ") else how
        return subprocess.CompletedProcess(words, status, *(output.read_text() for output in outputs))


def _run(_: Channel, words: tuple[str, ...], outputs: list[Path], cwd: str) -> None:
    """Runs a program in this process, which ends with the program's exit status."""
    for number, output in enumerate(outputs, start=1):
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(cwd)
    run_program(*words)
