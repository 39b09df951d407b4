"""Remote server: a worker's side of a device server that a command starts."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.processes.channel import NoMessage
from tf_opdiff.harness.device.processes.peer import GRACE, Peer
from tf_opdiff.harness.device.processes.server_handle import DeviceServer, not_run
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.remote.connection import Connection
from tf_opdiff.harness.remote.devices_file import ServerCommand
from tf_opdiff.harness.remote.messages import Answer, Serve
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.system.interrupt import uninterrupted

#: Starts that may fail in a row: after these, nothing is tried any more.
TRIES = 3


@dataclass(frozen=True)
class Remote:
    """A server of the file of devices, with what it has to know of the run.

    Attributes:
      command: its entry in the file.
      suites: the modules or packages of the suites, with spaces between them.
    """

    command: ServerCommand
    suites: str


class RemoteServer(DeviceServer):
    """A worker's handle on one remote device; the other side runs the device server, and notices its crashes and hangs.

    This side notices the end of the connection, and a server that does not answer.
    """

    _grace = 0.0  # it is part of the limit: a server that sends a byte now and then must not hold up the run

    def __init__(
        self, device: Device, logs: Path, remote: Remote, *, timeout: float = 120.0, processes: int = 1
    ) -> None:
        """The handle of a device.

        Args:
          device: the device; its command starts with the first request.
          logs: the folder of the command's log.
          remote: the server.
          timeout: seconds for one request.
          processes: the number of servers that share the machine.
        """
        super().__init__(device, logs, timeout=timeout)
        self._remote, self._processes = remote, processes
        self._failures, self._failure = 0, ""
        self._warm = False  # whether the other side has a process that takes a request at once

    def _start(self) -> str:
        """Starts the command; returns why that is not possible, or an empty text."""
        if self._failures >= TRIES:
            return f"{TRIES} starts failed: {self._failure}"
        patience, connection = self._remote.command.start_timeout, None
        deadline = time.monotonic() + patience
        try:
            with uninterrupted():
                self._child = connection = Connection(self._remote.command.command, self._log)
            connection.connect(self._remote.suites, patience)
            serve = Serve(patience, self.device, self.timeout, self._processes)
            self._warm = connection.ask(serve, deadline - time.monotonic()).running
        except (EOFError, OSError) as error:
            self._failures += 1
            self._failure = connection.failure(error) if connection else f"the command can't be started: {error}"
            self.stop()
            return self._failure
        self._failures = 0
        return ""

    @property
    def _limit(self) -> float:
        start = 0.0 if self._warm else self._remote.command.start_timeout
        return self.timeout + start + GRACE  # the other side answers within the first two

    def submit(self, request: Request) -> str:
        """See `DeviceServer.submit`; there is no shared memory."""
        return super().submit(replace(request, segment=""))

    def _observation(self, answer: Answer, request: Request) -> Observation:
        """The observation, which names the places where ops ran as the user does."""
        self._warm = answer.running
        ran_on = ";".join(f"{self.device.server}:{place}" for place in answer.observation.ran_on.split(";") if place)
        return replace(answer.observation, ran_on=ran_on, poisoned=False, left_behind="")

    def _ended(self, child: Peer, request: Request, why: Exception | None = None) -> Observation | None:
        if not isinstance(why, NoMessage):
            return super()._ended(child, request, why)
        failure = child.failure(why) if isinstance(child, Connection) else str(why)
        self.stop()
        return not_run(self.device, request, failure)
