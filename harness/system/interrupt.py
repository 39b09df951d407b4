"""Interrupts: SIGINT, SIGTERM and SIGHUP end a run early, a second one at once; and temporary folders."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: The exit status of an interrupted command.
STATUS = 2
_end = os._exit  # it stays the same while `harness.system.sudden_exit` refuses it to others
#: Seconds that the handlers of `atexit` may take after a second signal.
PATIENCE = 5.0
#: Seconds after which an interrupt comes again that Python would have ignored.
_AGAIN = 0.01


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delays an interrupt while a process starts, or a folder is made: nobody would end or delete it yet."""
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


class Scratch:
    """A temporary folder for logs. It is deleted at the end, also when a second signal ends the process."""

    def __enter__(self) -> Path:
        with uninterrupted():
            self.path = Path(tempfile.mkdtemp(prefix="opdiff-"))
            atexit.register(self._remove)
        return self.path

    def __exit__(self, *_: object) -> None:
        self._remove()
        atexit.unregister(self._remove)  # after it: an interrupt leaves the rest to the end of the process

    def _remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def run_child(command: Sequence[str], cwd: Path) -> int:
    """Runs a command and returns its exit status. An interrupt reaches the command as SIGTERM."""
    with subprocess.Popen(command, cwd=cwd, process_group=0) as process:
        atexit.register(process.terminate)  # after a second interrupt
        try:
            while True:
                try:
                    return process.wait()
                except KeyboardInterrupt:
                    process.terminate()
        finally:
            atexit.unregister(process.terminate)


class Interrupts:
    """The handler of the three signals, active after `install`.

    The first signal raises KeyboardInterrupt: the run stops, writes its report and ends with status 2. The second
    signal, or the first one after `over`, calls `give_up` and ends the process at once, also with status 2.
    """

    def __init__(self, give_up: Callable[[], None] = lambda: None) -> None:
        self.give_up = give_up
        self._at_once = False

    def install(self) -> None:
        """Installs the handler; signals that the parent process ignores, as nohup does, stay ignored."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._interrupt if number == signal.SIGINT else self._as_interrupt)

    def over(self) -> None:
        """From now on the first signal ends the process at once."""
        self._at_once = True

    def _as_interrupt(self, number: int, frame: FrameType | None) -> None:
        """Goes through SIGINT, which `uninterrupted` delays."""
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._interrupt)
        signal.raise_signal(signal.SIGINT)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self._at_once:
            if _ignored(frame):
                signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
                signal.setitimer(signal.ITIMER_REAL, _AGAIN)
                return
            self._at_once = True
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, lambda *_: _end(STATUS))
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        for one in SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        with contextlib.suppress(BaseException):  # whatever it is, the process ends now
            self.give_up()
            atexit._run_exitfuncs()  # ends servers and workers, removes folders
            sys.stdout.flush()
        _end(STATUS)


def _ignored(frame: FrameType | None) -> bool:
    """Whether Python ignores an exception here: in a finalizer, or in a callback of a weak reference.

    The import system has such callbacks for its locks.
    """
    while frame is not None:
        name, file = frame.f_code.co_name, frame.f_code.co_filename
        if name == "__del__" or file == weakref.__file__ or (name == "cb" and file == "<frozen importlib._bootstrap>"):
            return True
        frame = frame.f_back
    return False
