"""Connection: the local process of a command that runs a remote device server, and the channel to that server."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.processes.channel import Channel, NoMessage
from tf_opdiff.harness.device.processes.log import QUOTED, Log
from tf_opdiff.harness.device.processes.peer import GRACE, Peer, exit_name
from tf_opdiff.harness.device.processes.shared_fork_server import OFFER
from tf_opdiff.harness.remote import messages
from tf_opdiff.harness.remote.bootstrap import ERROR, GREETING
from tf_opdiff.harness.remote.code_archive import archive, first_line

#: The last word of a command: Python runs what it reads from its standard input line by line, without a banner.
INTERACTIVE = "-iq"
OLDEST_PYTHON = (3, 11)
#: Bytes that may come before the greeting: banners of shells and containers.
_MOST_BEFORE = 1 << 16
_GREETING = re.compile(re.escape(GREETING) + rb"(\d{1,9})\.(\d{1,9})[\w.+]{0,40}\n")


class Refused(NoMessage):
    """The server refused, or it sent something else than was expected."""


class Connection(Peer):
    """A command that ends with a Python interpreter, in a session of its own, while it serves a device.

    Call `connect` before any other method, and `kill` at the end. The server notices the end of its standard input,
    also if this process is killed, and ends with all that it started.
    """

    def __init__(self, command: Sequence[str], log: Path) -> None:
        """Starts the command, whose errors go to the log. Construct it inside `harness.system.interrupt.uninterrupted`.

        Raises:
          OSError: the command can't be started.
        """
        self._socket, theirs = socket.socketpair()
        errors, writer = os.pipe()
        environment = {name: text for name, text in os.environ.items() if name != OFFER}
        ends: dict[str, Any] = {"stdin": theirs, "stdout": theirs, "stderr": writer}
        try:
            self._process = subprocess.Popen([*command, INTERACTIVE], env=environment, start_new_session=True, **ends)
        except BaseException:
            self._socket.close()
            os.close(errors)
            raise
        finally:
            theirs.close()
            os.close(writer)
        self.pid, self.log, self._killed = self._process.pid, Log(log, errors), False
        self.end, ended = os.pipe()
        threading.Thread(target=self._wait_for_end, args=(ended,), daemon=True).start()
        self._expected: type = messages.Facts
        self._before = b""  # its output before the greeting
        self.channel = Channel(self._socket, self._read, messages.MOST)

    def connect(self, suites: str, patience: float) -> None:
        """Waits for the greeting of the server, and sends it the code with these suites.

        Raises:
          TimeoutError: no greeting came within `patience` seconds.
          EOFError, OSError: the command has ended, or its output is no greeting.
        """
        deadline = time.monotonic() + patience
        with contextlib.suppress(OSError):  # the command has ended: the next lines say how
            self._socket.sendall(first_line())
        self._socket.setblocking(False)
        while (greeting := _GREETING.search(self._before)) is None:
            if len(self._before) > _MOST_BEFORE:
                raise Refused("its output is no greeting of a device server")
            ended = self.ended
            if not wait([self._socket, self.end], max(0.0, deadline - time.monotonic())):
                raise TimeoutError(f"no greeting within {patience:.3g} s from the Python with which it must end")
            try:
                data = self._socket.recv(1 << 12)
            except BlockingIOError:
                data = None
            if data == b"" or (ended and data is None):
                raise EOFError
            self._before += data or b""
        self._before = self._before[greeting.end() :]
        self.log.mark()
        if (version := (int(greeting[1]), int(greeting[2]))) < OLDEST_PYTHON:
            raise Refused(f"its Python is {_dotted(version)}: expected {_dotted(OLDEST_PYTHON)} or newer")
        if self._before:
            raise Refused("it sent more than a greeting")
        self.submit(archive(suites))

    def ask(self, message: messages.Describe | messages.Serve, patience: float) -> Any:
        """Sends the first message, and returns its answer; raises as `receive`."""
        self._expected = messages.Facts if isinstance(message, messages.Describe) else messages.Answer
        self.submit(message)
        return self.receive(patience)

    def _wait_for_end(self, ended: int) -> None:
        self._process.wait()
        os.close(ended)

    def _read(self, data: memoryview) -> Any:
        """The message in these bytes.

        Raises:
          Refused: the server refused, or the bytes are no message that was expected.
        """
        if data[:1] == ERROR:
            raise Refused(bytes(data[1:2000]).decode("utf-8", "replace"))
        try:
            return messages.decode(data, self._expected)
        except ValueError as why:
            raise Refused(f"its answer is malformed: {why}") from why

    def kill(self, patience: float = 0.0) -> str:
        """See `Peer.kill`. The server gets the time to end by itself after the end of its input."""
        if self._killed:
            return ""
        self._killed = True
        code = self._process.poll() if self._ends_within(patience) else None
        self.channel.close()
        if not self._ends_within(GRACE):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._ends_within(GRACE)
        self.log.drain()
        os.close(self.end)
        return "" if code is None else exit_name(code)

    def failure(self, error: BaseException) -> str:
        """Why the server does not start or answer, in one line; ends the process."""
        ended = isinstance(error, (EOFError, ConnectionError))
        how = self.kill(GRACE if ended else 0.0)
        says = f"it does not start: {error}" if isinstance(error, TimeoutError) else str(error)
        says = f"the command ended{how and f' ({how})'}" if ended else says
        output = f"{self.log.quoted} {self._before[-QUOTED:].decode('utf-8', 'replace')}".strip()
        return " ".join(f"{says}{output and f': {output}'}".split())


def _dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))
