"""Device servers as a worker holds them: forked when needed, asked one thing at a time, replaced when they fail.

multiprocessing's fork server rather than a process pool: each server has a device of its own and one request in
flight, so that the operating system's word that the process ended is at once attributed, without polling.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing as mp
import os
import resource
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from packaging.version import Version

from harness import variant
from harness.observation import Observation, Result
from harness.plan import Device
from harness.request import Request
from harness.segment import taken

ROOT = Path(__file__).resolve().parent.parent
OLDEST_TF = "2.18"
START_TIMEOUT = 180.0
_PR_SET_PDEATHSIG = 1
_context = mp.get_context("forkserver")


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """An interrupt in here is raised after it: half a process started would be one that nobody holds or ends."""
    if threading.current_thread() is not threading.main_thread():  # interrupts go to the main thread
        yield
        return
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Settings for the processes that are started in here."""
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def start_fork_server(log: Path) -> None:
    """Starts the fork server, unless it runs; it imports TensorFlow and says nothing on this process's stderr."""
    from multiprocessing import forkserver

    settings = {
        "TF_OPDIFF_LOG": str(log),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "1"),
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    }
    with uninterrupted(), environment(settings):
        _context.set_forkserver_preload(["harness.preload"])
        forkserver.ensure_running()


def enter(log: Path, memory: int) -> None:
    """In a new process: output to a file, die with the parent, be the first that an out-of-memory killer takes."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    with contextlib.suppress(AttributeError, OSError):  # not Linux: the limit below and the closed connection remain
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        Path("/proc/self/oom_score_adj").write_text("1000")
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _serve(connection: Connection, device: Device, log: Path, memory: int) -> None:
    enter(log, memory)
    if device.type == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # before CUDA starts: a CPU server takes no GPU memory
    from harness.server import serve

    serve(connection, device)


def _describe(connection: Connection, log: Path) -> None:
    enter(log, 0)
    import tensorflow as tf

    if Version(tf.__version__) < Version(OLDEST_TF):  # what `describe` needs may not be there
        connection.send({"versions": {"tensorflow": tf.__version__}})
        return
    from harness.server import describe

    connection.send(describe())


def probe(log: Path) -> dict[str, Any]:
    """What TensorFlow lists on this machine, asked in a process of its own; see `harness.server.describe`.

    Raises:
      RuntimeError: that process died or did not answer.
    """
    start_fork_server(log)
    with contextlib.suppress(EOFError):  # of the new process, or of the fork server itself
        ours, _ = _connected(_describe, log)
        if ours.poll(START_TIMEOUT):
            return ours.recv()
    raise RuntimeError(f"TensorFlow could not be asked for its devices: {_tail(log, 0)}")


def memory_share(processes: int) -> int:
    """The bytes that each of so many processes on the CPU may allocate."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(4 << 30, int(0.8 * total) // processes)


def own_process(work: Callable[..., None], *arguments: Any, settings: Mapping[str, str] | None = None) -> Any:
    """A new process, a fork of the fork server: TensorFlow is imported there, and nothing has been run with it.

    One with settings in its environment, which TensorFlow may read when it is imported, is no fork.
    """
    context = mp.get_context("spawn") if settings else _context
    process = context.Process(target=work, args=arguments, daemon=True)
    with uninterrupted(), environment(settings or {}):
        process.start()
    return process


def _connected(
    work: Callable[..., None], *arguments: Any, settings: Mapping[str, str] | None = None
) -> tuple[Connection, Any]:
    """A new process, and our end of the pipe whose other end is its first argument."""
    with uninterrupted():
        ours, theirs = _context.Pipe()
        with contextlib.closing(theirs):
            return ours, own_process(work, theirs, *arguments, settings=settings)


def ending(code: int) -> str:
    """How a process ended, by its exit code: `EXIT n`, or the name of a signal."""
    return signal.Signals(-code).name if code < 0 else f"EXIT {code}"


def _tail(log: Path, start: int, size: int = 2000) -> str:
    """The end of what was written to a log from `start` on."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(start, end - size))
            return file.read().decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""


class DeviceServer:
    """A worker's handle on one device; the process behind it is started when needed."""

    def __init__(self, device: Device, logs: Path, *, timeout: float = 120.0, memory: int = 0) -> None:
        """`timeout` is in seconds for one request, `memory` in bytes (0: no limit); `logs` is a directory."""
        self.device, self.timeout, self.memory = device, timeout, memory
        self._log = logs / f"{str(device).replace(':', '-')}-{os.getpid()}.log"
        self._process: Any = None
        self._connection: Connection | None = None
        self._request: Request | None = None
        self._deadline = 0.0
        self._offset = 0

    def _start(self) -> str:
        start_fork_server(self._log)
        self._offset = self._log.stat().st_size if self._log.exists() else 0
        arguments = self.device, self._log, self.memory
        try:
            settings = variant.environment(self.device.variants)
        except OSError as why:
            return str(why)
        try:
            with uninterrupted():
                self._connection, self._process = _connected(_serve, *arguments, settings=settings)
            absent = self._connection.recv() if self._connection.poll(START_TIMEOUT) else "it does not start"
        except EOFError:
            absent = f"its server ended at the start: {_tail(self._log, self._offset)}"
        if absent:
            self.stop()
        return absent

    def submit(self, request: Request) -> str:
        """Sends a request; returns why it can't be sent, or nothing."""
        absent = self._start() if self._connection is None else ""
        if absent:
            return absent
        assert self._connection is not None
        self._offset = self._log.stat().st_size
        self._request, self._deadline = request, time.monotonic() + self.timeout
        with contextlib.suppress(OSError):  # it is gone: `collect` says how
            self._connection.send(request)
        return ""

    @property
    def waitable(self) -> Connection:
        """Readable as soon as there is an answer, or the process has ended."""
        assert self._connection is not None
        return self._connection

    @property
    def pid(self) -> int:
        """Of the process that there is."""
        return self._process.pid

    @property
    def remaining(self) -> float:
        """Seconds until the request counts as hung."""
        return max(0.0, self._deadline - time.monotonic())

    def collect(self) -> Observation:
        """The answer to the request, a crash if the process ended, a hang if its time is up."""
        assert self._connection is not None and self._request is not None
        request, self._request = self._request, None
        began = self._deadline - self.timeout
        try:
            if not self._connection.poll(0) and self.remaining == 0:
                self.stop()
                message = f"no answer within {self.timeout:g} s. {_tail(self._log, self._offset)}"
                return self._lost(request, Result("hang", code="TIMEOUT", message=message), began)
            observation: Observation = taken(self._connection.recv(), request.segment)
        except (EOFError, OSError):
            self._process.join()
            name = ending(self._process.exitcode)
            self.stop()
            return self._lost(request, Result("crash", code=name, message=_tail(self._log, self._offset)), began)
        if observation.poisoned:
            self.stop()
        return observation

    def _lost(self, request: Request, result: Result, began: float) -> Observation:
        return Observation.of_all(request.quantities, result, seconds=time.monotonic() - began)

    def stop(self) -> None:
        """Ends the process; the next request starts another."""
        if self._process is not None and self._process.pid is not None:
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None


def run_all(
    servers: Mapping[Device, DeviceServer],
    requests: Mapping[Device, Sequence[Request]],
    before: Callable[[Device, Request], None],
) -> Iterator[tuple[Device, Request, Observation]]:
    """Runs each device's requests in order, all devices at once; calls `before` each, and yields what was observed.

    A device has its next request before its last observation is yielded: it works while that is looked at.
    """
    queues = {device: deque(todo) for device, todo in requests.items()}
    asked: dict[Device, Request] = {}
    ready: list[tuple[Device, Request, Observation]] = []
    while asked or any(queues.values()) or ready:
        for device, queue in queues.items():
            if queue and device not in asked:
                request = asked[device] = queue.popleft()
                before(device, request)
                absent = servers[device].submit(request)
                if absent:
                    del asked[device]
                    result = Result("crash", code="NO_SERVER", message=f"no server for {device}: {absent}")
                    ready.append((device, request, Observation.of_all(request.quantities, result)))
        yield from ready
        ready = []
        if not asked:
            continue
        busy = {servers[device].waitable: device for device in asked}
        wait(list(busy), timeout=min(servers[device].remaining for device in asked))
        for connection, device in busy.items():
            if connection.poll(0) or servers[device].remaining == 0:
                ready.append((device, asked.pop(device), servers[device].collect()))
