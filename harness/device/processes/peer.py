"""Peer: a process at the other end of a channel. Every wait for its messages has a deadline."""

from __future__ import annotations

import select
import signal
import time
from multiprocessing.connection import wait
from typing import Any

from tf_opdiff.harness.device.processes.channel import Channel
from tf_opdiff.harness.device.processes.log import Log

#: Seconds from a kill, or from the end of a connection, to the end of the process: a GPU's driver cleans up first.
GRACE = 10.0
#: Seconds after which sending stops if the process does not read; `Channel.flush` sends the rest later.
STALL = 1.0


class Peer:
    """A process that this process started, with a channel to it and the log of its output.

    Attributes:
      pid: its process id.
      end: a descriptor that is readable when the process has ended.
    """

    channel: Channel
    log: Log
    pid: int
    end: int

    @property
    def ended(self) -> bool:
        """Whether the process is known to have ended; does not wait."""
        return self._ends_within(0.0)

    @property
    def orphaned(self) -> bool:
        """Whether nobody would learn how the process ends."""
        return False

    def _ends_within(self, patience: float) -> bool:
        """Whether the process ends within `patience` seconds."""
        poll = select.poll()
        poll.register(self.end, select.POLLIN)
        return bool(poll.poll(patience * 1000))

    def submit(self, message: object) -> None:
        """Sends a message while the process reads; `channel.flush` sends the rest.

        Raises:
          OSError: the process has closed its end.
        """
        self.channel.post(message)
        poll = select.poll()
        poll.register(self.channel, select.POLLOUT)
        while self.channel.flush() and self.channel.sending:
            poll.poll(STALL * 1000)

    def receive(self, patience: float) -> Any:
        """The next message; sends the rest of the last message meanwhile.

        Raises:
          TimeoutError: no message came within `patience` seconds.
          EOFError, OSError: the process has ended, or has closed its end.
        """
        deadline = time.monotonic() + patience
        while True:
            ended = self.ended  # read before the last fetch: all that the process sent has arrived by then
            self.channel.fetch()
            if self.channel.complete:
                return self.channel.take()
            if ended:
                raise EOFError
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer within {patience:.3g} s")
            self._wait(left)

    def _wait(self, patience: float) -> None:
        """Waits until the process has sent something, has ended, or takes more of a message."""
        if not self.channel.sending:
            wait([self.channel.fileno(), self.end], patience)
            return
        poll = select.poll()
        poll.register(self.channel, select.POLLIN | select.POLLOUT)
        poll.register(self.end, select.POLLIN)
        poll.poll(patience * 1000)
        self.channel.flush()

    def kill(self, patience: float = 0.0) -> str:
        """Ends the process and all that it started; waits `patience` seconds for the process to end by itself.

        Returns how it ended by itself, such as `EXIT n` or `SIGABRT`; an empty text if it was killed.
        """
        raise NotImplementedError


def exit_name(code: int) -> str:
    """The name of an exit code: `EXIT n`, or that of a signal."""
    return signal.Signals(-code).name if code < 0 else f"EXIT {code}"
