"""Log: the output of a child process, on disk within a limit, and its end for messages."""

from __future__ import annotations

import contextlib
import os
import re
import select
import threading
from pathlib import Path

#: Bytes of a log on disk, bytes of its end in memory, and characters that a message quotes (a record takes 1,000).
LIMIT, RECENT, QUOTED = 1 << 20, 1 << 13, 900
#: Parts that differ in each run and do not concern the op: a native stack, the time and the process, addresses.
_INCIDENTAL = (
    (re.compile(r"^\*\*\* Check failure stack trace: \*\*\*\n|^ +@ +0x[0-9a-f]+ .*\n?", re.MULTILINE), ""),
    (re.compile(r"^([IWEF])\d{4} \d\d:\d\d:[\d.]+ +\d+ ", re.MULTILINE), r"\1 "),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
)
_CHUNK = 1 << 16


class Log:
    """The stdout and stderr of a child, read by a thread. A file keeps the end of it, at most `LIMIT` bytes.

    A child that writes much waits only for this reading.
    """

    def __init__(self, path: Path, pipe: int) -> None:
        """`pipe` is the reading end of a pipe; this object closes it when no writer is left."""
        self._pipe, self._recent, self._lock = pipe, b"", threading.Lock()
        os.set_blocking(pipe, False)
        self._file: int | None = None
        with contextlib.suppress(OSError):  # the run directory was deleted: `quoted` still works
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        threading.Thread(target=self._follow, name=f"log of {path.name}", daemon=True).start()

    def mark(self) -> None:
        """Lets `quoted` begin here."""
        self.drain()
        with self._lock:
            self._recent = b""

    @property
    def quoted(self) -> str:
        """The end of the output since `mark`."""
        self.drain()
        text = self._recent.decode("utf-8", "replace")
        for pattern, instead in _INCIDENTAL:
            text = pattern.sub(instead, text)
        return text.strip()[-QUOTED:]

    def _follow(self) -> None:
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        while self.drain():
            poll.poll()
        with self._lock:
            os.close(self._pipe)
            self._pipe = -1
            if self._file is not None:
                os.close(self._file)

    def drain(self) -> bool:
        """Reads all that is in the pipe now; returns whether more can follow."""
        with self._lock:
            for _ in range(16):  # as much as a pipe holds: a child may write for ever
                try:
                    data = os.read(self._pipe, _CHUNK) if self._pipe >= 0 else b""
                except BlockingIOError:
                    return True
                if not data:
                    return False
                self._recent = (self._recent + data)[-RECENT:]
                with contextlib.suppress(OSError):  # a full disk
                    self._write(data)
            return True

    def _write(self, data: bytes) -> None:
        if self._file is None:
            return
        size = os.fstat(self._file).st_size
        if size + len(data) > LIMIT:
            end = os.pread(self._file, LIMIT // 2, max(0, size - LIMIT // 2))
            os.ftruncate(self._file, 0)
            os.write(self._file, b"[earlier lines were deleted: the log is limited]\n" + end[end.find(b"\n") + 1 :])
        os.write(self._file, data)
