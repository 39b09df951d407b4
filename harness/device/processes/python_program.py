"""Python program: runs a program in this process as `python` does, and ends the process with its exit status."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from typing import Any, NoReturn


def run_program(*words: str, sees_gpus: bool = False, uncaught: int = 1) -> NoReturn:
    """Does what `python WORDS` does: `-c PROGRAM`, `-m MODULE` or `FILE`, and arguments; waits for no threads.

    Call it in a fork of the fork server: TensorFlow has been imported there, and CUDA has not started. `uncaught` is
    the exit status after an exception that the program does not catch.
    """
    if not sees_gpus:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    status: Any = uncaught
    try:
        _run(*words)
        status = 0
    except SystemExit as end:
        status = end.code or 0
    except BaseException:  # noqa: BLE001  the program's own error
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(status if isinstance(status, int) else uncaught)


def _run(first: str, *words: str) -> None:
    """Runs a program, a module or a file."""
    if first == "-c":
        sys.argv = [first, *words[1:]]
        exec(compile(words[0], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
    elif first == "-m":
        sys.argv = list(words)
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [first, *words]
        runpy.run_path(first, run_name="__main__")
