"""Run scripts: each in a process of its own."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterator, Mapping
from multiprocessing.connection import wait
from pathlib import Path
from typing import Self

from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.fork_server import start_fork_server
from tf_opdiff.harness.device.processes.process import Child
from tf_opdiff.harness.device.processes.python_program import run_program
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
    run_program(str(path), sees_gpus=sees_gpus, uncaught=_BROKEN)


class ScriptRuns:
    """Scripts that run while this process does other work, such as writing more of them; each in a process of its own.

    Scripts that still run when the context ends are killed.
    """

    def __init__(self, *, timeout: float = 60.0, at_once: int = 2) -> None:
        """`timeout` is in seconds; `at_once` scripts run side by side."""
        self._timeout, self._at_once = timeout, at_once
        self._waiting: deque[tuple[Path, Device]] = deque()
        self._busy: dict[Path, tuple[Child, float]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for child, _ in self._busy.values():
            child.kill()

    def __bool__(self) -> bool:
        """Whether there are scripts that have not ended."""
        return bool(self._waiting or self._busy)

    def add(self, path: Path, device: Device) -> None:
        """Adds a script. Scripts of the CPU see no GPU and get a share of the machine's memory."""
        if not self:
            start_fork_server(path.parent / "fork-server.log")
        self._waiting.append((path, device))

    def ended(self, *, wait_for_one: bool = False) -> Iterator[tuple[Path, str, str]]:
        """Yields the path, the exit name and the output of each script that has ended; starts those that wait.

        The exit name is `EXIT n`, the name of a signal, `TIMEOUT`, or `NO_PROCESS`.
        """
        yield from self._start_waiting()
        deadline = min((end for _, end in self._busy.values()), default=0.0) if wait_for_one else 0.0
        wait([child.end for child, _ in self._busy.values()], timeout=max(0.0, deadline - time.monotonic()))
        for path, (child, end) in list(self._busy.items()):
            if child.ended or time.monotonic() >= end:
                exit_name = child.kill() or "TIMEOUT"
                del self._busy[path]
                yield path, exit_name, _output(path)
        yield from self._start_waiting()

    def _start_waiting(self) -> Iterator[tuple[Path, str, str]]:
        """Starts scripts while there is room; yields those for which no process can be started."""
        while self._waiting and len(self._busy) < self._at_once:
            path, device = self._waiting.popleft()
            try:
                with uninterrupted():
                    self._busy[path] = _start(path, device, self._at_once), time.monotonic() + self._timeout
            except (EOFError, OSError) as why:
                yield path, "NO_PROCESS", f"no process can be started: {why}"


def run_scripts(
    scripts: Mapping[Path, Device], *, timeout: float = 60.0, at_once: int = 2
) -> Iterator[tuple[Path, str, str]]:
    """Runs scripts, path → device; yields the path, the exit name and the output of each as it ends.

    See `ScriptRuns`.
    """
    with ScriptRuns(timeout=timeout, at_once=at_once) as runs:
        for path, device in scripts.items():
            runs.add(path, device)
        while runs:
            yield from runs.ended(wait_for_one=True)


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
