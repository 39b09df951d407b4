"""Forked Python: programs that need TensorFlow run in forks of the fork server, which has imported it.

An import of TensorFlow costs four seconds of CPU. Programs that have to run with other environment variables, or
without this project on their path, need a process of their own instead.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.process import Child
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
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    os.chdir(cwd)
    status: Any = 0
    try:
        _execute(*words)
    except SystemExit as end:
        status = end.code or 0
    except BaseException:  # noqa: BLE001  the program's own error
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os._exit(status if isinstance(status, int) else 1)


def _execute(first: str, *words: str) -> None:
    """Does what Python does with these words."""
    if first == "-c":
        sys.argv = [first, *words[1:]]
        exec(compile(words[0], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
    elif first == "-m":
        sys.argv = list(words)
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [first, *words]
        runpy.run_path(first, run_name="__main__")
