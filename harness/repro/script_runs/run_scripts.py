"""Run scripts: each in a process of its own."""

from __future__ import annotations

import os
import re
import runpy
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.fork_server import start_fork_server
from tf_opdiff.harness.device.processes.process import Child
from tf_opdiff.harness.device.processes.server_handle import memory_limit
from tf_opdiff.harness.repro.script_runs.outcome import GOT
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.spec.settings import variant
from tf_opdiff.harness.system.interrupt import uninterrupted

#: Lines of TensorFlow's own log: the time comes first.
_LOG_LINE = re.compile(r"^([IWE]\d{4} \d\d:|\d{4}-\d\d-\d\d \d\d:).*\n", re.MULTILINE)
#: The exit status of a script that raised an exception.
_BROKEN = 70
#: Characters that are recorded of a script's output: at its beginning and at its end.
_BEGINNING, _END = 500, 2000


def _execute(_: Channel, path: Path, sees_gpus: bool) -> None:
    """Runs a script as a program; its exit status is this process's."""
    if not sees_gpus:  # before CUDA starts, as in its device server
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    status: Any = 0
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        status = end.code
    except BaseException:  # noqa: BLE001  not the script's verdict: how it failed
        traceback.print_exc()
        status = _BROKEN
    sys.stdout.flush()
    os._exit(status if isinstance(status, int) else _BROKEN)


def run_scripts(
    scripts: Mapping[Path, Device], *, timeout: float = 60.0, at_once: int = 2
) -> Iterator[tuple[Path, str, str]]:
    """Runs scripts, each in a process of its own; yields the path, the exit name and the output of each as it ends.

    The exit name is `EXIT n`, the name of a signal, `TIMEOUT` after `timeout` seconds, or `NO_PROCESS`.

    Args:
      scripts: path → device. Scripts of the CPU see no GPU and get a share of the machine's memory.
      at_once: how many run side by side.
    """
    waiting = list(scripts)
    busy: dict[Path, tuple[Child, float]] = {}
    if waiting:
        start_fork_server(waiting[0].parent / "fork-server.log")
    try:
        while waiting or busy:
            while waiting and len(busy) < at_once:
                path = waiting.pop(0)
                try:
                    with uninterrupted():
                        busy[path] = _start(path, scripts[path], at_once), time.monotonic() + timeout
                except (EOFError, OSError) as why:
                    yield path, "NO_PROCESS", f"no process can be started: {why}"
            left = min((end for _, end in busy.values()), default=0.0) - time.monotonic()
            wait([child.end for child, _ in busy.values()], timeout=max(0.0, left))
            for path, (child, end) in list(busy.items()):
                if child.ended or time.monotonic() >= end:
                    exit_name = child.kill() or "TIMEOUT"
                    del busy[path]
                    yield path, exit_name, _output(path)
    finally:
        for child, _ in busy.values():
            child.kill()


def _start(path: Path, device: Device, at_once: int) -> Child:
    """Starts the process of a script, one of `at_once` side by side."""
    memory = memory_limit(device, at_once)
    settings = variant.environment(device.variants)
    log = path.with_suffix(".log")
    return Child(_execute, path, device.type != "cpu", log=log, memory=memory, settings=settings)


def _output(path: Path) -> str:
    """A script's output, shortened, without TensorFlow's own log lines."""
    log = path.with_suffix(".log")
    try:
        return _shortened(_LOG_LINE.sub("", log.read_text(errors="replace")))
    except FileNotFoundError:
        return ""
    finally:
        log.unlink(missing_ok=True)


def _shortened(text: str) -> str:
    """The beginning and the end of an output, and the lines between them in which the script prints its result."""
    if len(text) <= _BEGINNING + _END:
        return text
    between = [line[:_BEGINNING] for line in text[_BEGINNING:-_END].splitlines() if line.startswith(GOT)]
    return "\n…\n".join([text[:_BEGINNING], *between, text[-_END:]])
