"""Process: a child process. Every wait for it has a deadline: for its start, its messages and its end."""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import select
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.processes import child_main, fork_server, server_python, shared_fork_server
from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.log import QUOTED, Log
from tf_opdiff.harness.device.processes.peer import GRACE, Peer, exit_name

#: How often something is done that fails because a fork server ends: nothing that runs in a child is at fault.
TRIES = 4
#: The exit code that multiprocessing gives where a fork server has ended, and did not tell how a process ended.
UNTOLD = 255
#: Variables that TensorFlow reads after its import: XLA reads its flags when it first compiles. A fork can set them.
LATE = {"XLA_FLAGS"}


class Child(Peer):
    """A process that does some work, in a process group of its own, and dies with this one.

    It is a fork of the fork server; with `settings` that TensorFlow may read at its import, of the fork server with
    these settings. See `LATE`. Construct it inside `harness.system.interrupt.uninterrupted`.
    """

    def __init__(
        self,
        work: Callable[..., None],
        *arguments: Any,
        log: Path,
        memory: int = 0,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Starts `work(channel, *arguments)`; `memory` is a limit in bytes (0: no limit).

        Raises:
          EOFError, OSError: no process can be started, or `TRIES` fork servers ended or did not answer.
        """
        self._fork_server_end = -1  # a descriptor that is readable when the fork server has ended
        try:
            for left in reversed(range(TRIES)):
                try:
                    self._start(log, settings or {}, work, memory, *arguments)
                    break
                except (EOFError, ConnectionError):
                    if not (left and self._fork_server_ended(GRACE)):
                        raise  # otherwise another fork server starts
        except BaseException:
            self._close_fork_server_end()
            raise
        assert self._process.pid
        self.pid: int = self._process.pid
        # multiprocessing's sentinel is a pipe: the process can close it early, and its children can keep it open.
        self.end: int = self._process.sentinel
        with contextlib.suppress(AttributeError, OSError):  # not Linux; or it has ended already
            self.end = os.pidfd_open(self.pid)
        self._killed = self._orphaned = False

    def _start(self, log: Path, settings: Mapping[str, str], work: Callable[..., None], *arguments: Any) -> None:
        """Starts the process; raises like the constructor, and leaves nothing behind then."""
        with fork_server.fork_server_of({} if settings.keys() <= LATE else settings, log):
            self._fork(log, settings, work, *arguments)

    def _fork(self, log: Path, settings: Mapping[str, str], work: Callable[..., None], *arguments: Any) -> None:
        self._close_fork_server_end()
        self._fork_server_end = shared_fork_server.end_of_current()
        self._scratch = tempfile.mkdtemp(dir=fork_server.scratch())
        ours, theirs = socket.socketpair()
        reader, writer = mp.Pipe(duplex=False)
        life, self._life = mp.Pipe(duplex=False)
        with theirs, writer, life:
            self.channel = Channel(ours)
            self.log = Log(log, os.dup(reader.fileno()))
            reader.close()
            arguments = (work, theirs, writer, life, {**settings, "TMPDIR": self._scratch}, *arguments)
            self._process: Any = fork_server.CONTEXT.Process(target=child_main.run, args=arguments, daemon=True)
            try:
                with (
                    fork_server.environment({**server_python.import_path(), **fork_server.safe_path()}),
                    fork_server.watched_fork_server(),
                ):
                    self._process.start()
            except BaseException:
                self.channel.close()
                self._life.close()  # this ends a process that was forked nevertheless
                shutil.rmtree(self._scratch, ignore_errors=True)
                raise

    @property
    def orphaned(self) -> bool:
        """Whether the fork server has ended that this process is a fork of: nobody would learn how the process ends."""
        return self._orphaned or self._fork_server_ended(0.0)

    def _fork_server_ended(self, patience: float) -> bool:
        """Whether the fork server ends within `patience` seconds."""
        if self._fork_server_end < 0:
            return False
        poll = select.poll()
        poll.register(self._fork_server_end, select.POLLIN)
        return bool(poll.poll(patience * 1000))

    def _close_fork_server_end(self) -> None:
        if self._fork_server_end >= 0:
            os.close(self._fork_server_end)
        self._fork_server_end = -1

    def kill(self, patience: float = 0.0) -> str:
        """See `Peer.kill`."""
        if self._killed:
            return ""
        self._killed = True
        code = self._code(patience)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()  # if it has no group of its own yet
        if self._code(GRACE) is None:
            children: Any = mp.process  # stuck in a driver; at exit, multiprocessing would wait for ever
            children._children.discard(self._process)
        # a fork server that is about to end closes its connections first
        self._orphaned = self._fork_server_ended(1.0 if code == UNTOLD else 0.0)
        self.log.drain()
        self.channel.close()
        self._life.close()
        if self.end != self._process.sentinel:
            os.close(self.end)
        self._close_fork_server_end()
        shutil.rmtree(self._scratch, ignore_errors=True)
        return "" if code is None else exit_name(code)

    def _code(self, patience: float) -> int | None:
        """The exit code; None if the process does not end within `patience` seconds."""
        if not self._ends_within(patience):
            return None
        deadline = time.monotonic() + GRACE
        while (code := self._process.exitcode) is None and time.monotonic() < deadline:
            time.sleep(0.002)  # the fork server has not passed it on yet
        return code


def start_failure(child: Child | None, error: BaseException, log: Path, offset: int) -> str:
    """Why a process sent no first message, in words; its output in `log` begins at byte `offset`."""
    if child is None:
        return f"no process can be started: {error}. {_end_of(log, offset)}".strip()
    if isinstance(error, TimeoutError):
        return f"it does not start: {error}. {child.log.quoted}".strip()
    how = child.kill(GRACE)
    return f"its process ended at the start{how and f' ({how})'}: {child.log.quoted}"


def _end_of(log: Path, offset: int) -> str:
    """The end of a log, at most the text from byte `offset` on."""
    try:
        with log.open("rb") as file:
            file.seek(max(offset, file.seek(0, os.SEEK_END) - QUOTED))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""
