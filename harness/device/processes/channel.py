"""Channel: one end of a connection between two processes; the parent never waits for it."""

from __future__ import annotations

import contextlib
import pickle
import socket
import struct
from collections.abc import Callable
from typing import Any

_CHUNK = 1 << 16
_LENGTH = struct.Struct("!Q")


class NoMessage(OSError):
    """The other end sent something else than a message."""


class Channel:
    """One end of a socket pair, for messages that can be pickled; each is preceded by its length."""

    def __init__(
        self, end: socket.socket, read: Callable[[memoryview], Any] = pickle.loads, most: int = 1 << 63
    ) -> None:
        """`read` makes a message of its bytes, which are at most so many: pickles are only for one's own processes."""
        self._end, self._read, self._most = end, read, most
        self._unsent = memoryview(b"")
        self._received = bytearray()

    def fileno(self) -> int:
        return self._end.fileno()

    def close(self) -> None:
        self._end.close()

    def post(self, message: object) -> None:
        """Queues a message; `flush` sends it."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._unsent = memoryview(b"".join((self._unsent, _LENGTH.pack(len(data)), data)))

    @property
    def sending(self) -> bool:
        """Whether part of a message is not sent yet."""
        return bool(self._unsent)

    @property
    def complete(self) -> bool:
        """Whether a whole message was received.

        Raises:
          NoMessage: it is too long.
        """
        size = len(self._received) - _LENGTH.size
        if size < 0:
            return False
        length = _LENGTH.unpack_from(self._received)[0]
        if length > self._most:
            raise NoMessage(f"a message of {length:,} bytes: expected at most {self._most:,}")
        return size >= length

    def take(self) -> Any:
        """The message that is complete."""
        length = _LENGTH.unpack_from(self._received)[0]
        data, self._received = self._received, bytearray()
        return self._read(memoryview(data)[_LENGTH.size : _LENGTH.size + length])

    def flush(self) -> bool:
        """Sends as much as possible without waiting; returns whether anything was sent.

        Raises:
          OSError: the other end is closed.
        """
        self._end.setblocking(False)
        before = len(self._unsent)
        with contextlib.suppress(BlockingIOError):
            while self._unsent:
                self._push()
        return len(self._unsent) != before

    def fetch(self) -> bool:
        """Receives as much of a message as has arrived, without waiting; returns whether anything was received.

        Raises:
          OSError, EOFError: the other end is closed.
        """
        self._end.setblocking(False)
        before = len(self._received)
        with contextlib.suppress(BlockingIOError):
            while not self.complete:
                self._pull()
        return len(self._received) != before

    def send(self, message: object) -> None:
        """Sends a message and waits until it is sent: for a child, which its parent watches."""
        self._end.setblocking(True)
        self.post(message)
        while self._unsent:
            self._push()

    def receive(self) -> Any:
        """Waits for the next message: for a child, which its parent watches.

        Raises:
          EOFError: the other end is closed.
        """
        self._end.setblocking(True)
        while not self.complete:
            self._pull()
        return self.take()

    def _push(self) -> None:
        self._unsent = self._unsent[self._end.send(self._unsent) :]

    def _pull(self) -> None:
        data = self._end.recv(_CHUNK)
        if not data:
            raise EOFError
        self._received += data
