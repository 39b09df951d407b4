"""Process: a child process. Every wait for it has a deadline: for its start, its messages and its end."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing as mp
import os
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import forkserver
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.channel import Channel
from tf_opdiff.harness.device.log import Log
from tf_opdiff.harness.paths import ROOT

#: Seconds that a process may take to start, TensorFlow's import included.
START_TIMEOUT = 180.0
#: Seconds from a kill, or from the end of a connection, to the end of the process: a GPU's driver tidies up first.
GRACE = 10.0
#: Seconds after which a process that takes no more of a message is left alone with the rest until it reads on.
STALL = 1.0
_PR_SET_PDEATHSIG = 1
_context = mp.get_context("forkserver")
_scratch = ""


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delays an interrupt: a process that is half started would be one that nobody holds or ends."""
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


def scratch() -> Path:
    """The folder for temporary files of this process's children; the fork server deletes it."""
    global _scratch
    if not os.path.isdir(_scratch):
        _scratch = tempfile.mkdtemp(prefix="opdiff-")
    return Path(_scratch)


def start_fork_server(log: Path) -> None:
    """Starts the fork server, unless it runs; it imports TensorFlow and writes to `log`, not to this process's stderr.

    All temporary files of it and of its children are in one folder, which it deletes when this process has ended,
    however that came about.
    """
    with uninterrupted():
        folder = str(scratch())
        settings = {
            "TF_OPDIFF_LOG": str(log),
            "TF_OPDIFF_SCRATCH": folder,
            "TMPDIR": folder,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "1"),
            "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        }
        config: Any = mp.process.current_process()
        config._config.setdefault("tempdir", folder)  # for the socket: multiprocessing's own would outlive a kill
        with environment(settings):
            _context.set_forkserver_preload(["tf_opdiff.harness.device.preload"])
            forkserver.ensure_running()


def ending(code: int) -> str:
    """How a process ended, by its exit code: `EXIT n`, or the name of a signal."""
    return signal.Signals(-code).name if code < 0 else f"EXIT {code}"


class Child:
    """A process that does some work, in a process group of its own, and dies with this one.

    It is a fork of the fork server: TensorFlow is imported there, and nothing has been run with it. One with settings
    in its environment, which TensorFlow may read when it is imported, is no fork. To be made within `uninterrupted`.
    """

    def __init__(
        self,
        work: Callable[..., None],
        *arguments: Any,
        log: Path,
        memory: int = 0,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Starts `work(channel, *arguments)`; `memory` is in bytes (0: no limit).

        Raises:
          EOFError, OSError: no process can be started, or the fork server ended or does not answer.
        """
        start_fork_server(log)
        self._scratch = tempfile.mkdtemp(dir=scratch())
        ours, theirs = socket.socketpair()
        reader, writer = mp.Pipe(duplex=False)
        with theirs, writer:
            self.channel = Channel(ours)
            self.log = Log(log, os.dup(reader.fileno()))
            reader.close()
            arguments = (work, theirs, writer, self._scratch, memory, *arguments)
            context = mp.get_context("spawn") if settings else _context
            self._process: Any = context.Process(target=_child, args=arguments, daemon=True)
            try:
                with environment(settings or {}), _watched_fork_server():
                    self._process.start()
            except BaseException:
                self.channel.close()
                shutil.rmtree(self._scratch, ignore_errors=True)
                raise
        assert self._process.pid
        self.pid: int = self._process.pid
        #: Readable when the process has ended. multiprocessing's sentinel is a pipe, which the process can close, and
        #: of which its own children can keep it from being closed.
        self.end: int = self._process.sentinel
        with contextlib.suppress(AttributeError, OSError):  # not Linux; or it has ended already
            self.end = os.pidfd_open(self.pid)
        self._poll = select.poll()
        self._poll.register(self.end, select.POLLIN)
        self._killed = False

    @property
    def ended(self) -> bool:
        """Whether the process has ended, as far as can be seen without waiting."""
        return bool(self._poll.poll(0))

    def submit(self, message: object) -> None:
        """Sends a message as long as the process reads on; `channel.flush` sends the rest.

        Raises:
          OSError: the process has closed its end.
        """
        self.channel.post(message)
        poll = select.poll()
        poll.register(self.channel, select.POLLOUT)
        while self.channel.flush() and self.channel.sending:
            poll.poll(STALL * 1000)

    def receive(self, patience: float) -> Any:
        """The next message, if it comes within so many seconds.

        Raises:
          TimeoutError: none came.
          EOFError, OSError: the process has ended, or has closed its end.
        """
        deadline = time.monotonic() + patience
        while True:
            ended = self.ended  # before the last look: what it sent is there by now
            self.channel.fetch()
            if self.channel.complete:
                return self.channel.take()
            if ended:
                raise EOFError
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer within {patience:g} s")
            wait([self.channel.fileno(), self.end], left)

    def kill(self, patience: float = 0.0) -> str:
        """Ends the process, if it does not end by itself within so many seconds, and whatever it started.

        Returns how it ended by itself, such as `EXIT n` or `SIGABRT`; nothing where it was killed.
        """
        if self._killed:
            return ""
        self._killed = True
        code = self._code(patience)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()  # where it has no group of its own yet
        if self._code(GRACE) is None:
            children: Any = mp.process  # stuck in a driver: multiprocessing would wait for it at exit, without a limit
            children._children.discard(self._process)
        self.log.drain()
        self.channel.close()
        if self.end != self._process.sentinel:
            os.close(self.end)
        shutil.rmtree(self._scratch, ignore_errors=True)
        return "" if code is None else ending(code)

    def _code(self, patience: float) -> int | None:
        """The exit code, if the process ends within so many seconds."""
        if not self._poll.poll(patience * 1000):
            return None
        deadline = time.monotonic() + GRACE
        while (code := self._process.exitcode) is None and time.monotonic() < deadline:
            time.sleep(0.002)  # the fork server has yet to pass it on
        return code


@contextlib.contextmanager
def _watched_fork_server() -> Iterator[None]:
    """Kills a fork server that does not fork: multiprocessing waits for it without a limit."""
    server: Any = forkserver._forkserver
    watch = threading.Timer(START_TIMEOUT, lambda: os.kill(server._forkserver_pid, signal.SIGKILL))
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def _child(work: Callable[..., None], end: socket.socket, output: Any, scratch: str, memory: int, *more: Any) -> None:
    """What a new process does; it does not wait for threads that its work leaves behind."""
    _enter(output.fileno(), scratch, memory)
    output.close()
    work(Channel(end), *more)
    sys.stdout.flush()
    os._exit(0)


def _enter(output: int, scratch: str, memory: int) -> None:
    """Output to a pipe, temporary files to a folder; die with the parent, be the first that is killed for memory."""
    os.setpgid(0, 0)  # it ends with all that it starts; and Ctrl-C in a terminal is for its parent
    os.dup2(output, 1)
    os.dup2(output, 2)
    # The fork server's own were opened on its output: if that was a file, they would seek, which a pipe refuses.
    sys.stdout, sys.stderr = (os.fdopen(n, "w", 1, errors="backslashreplace", closefd=False) for n in (1, 2))
    os.environ["TMPDIR"] = tempfile.tempdir = scratch
    server: Any = forkserver._forkserver
    if server._forkserver_alive_fd is not None:  # open, it keeps the fork server alive when its own parent has ended
        os.close(server._forkserver_alive_fd)
        server._forkserver_alive_fd = None
    with contextlib.suppress(AttributeError, OSError):  # not Linux: the limit below and the closed connection remain
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        Path("/proc/self/oom_score_adj").write_text("1000")
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
