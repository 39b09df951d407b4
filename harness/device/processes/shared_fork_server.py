"""Shared fork server: a process offers its fork server to the processes that it starts, so TensorFlow is imported once.

The offer is an environment variable. A process takes the offer only if a fork server of its own would be the same: it
has the same environment, limits, Python and checkout. A child dies with the process that asked for it, whoever owns the
fork server; see `harness.device.processes.process`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import select
import sys
from collections.abc import Iterator
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Any

from tf_opdiff.harness.paths import ROOT

#: The environment variable of the offer: JSON with the fields of `_Borrowed`, and `same`, the result of `digest`.
OFFER = "TF_OPDIFF_FORK_SERVER"
#: Variables that differ between a pytest process and its workers; no device server reads them.
_IGNORED = (OFFER, "PYTEST_", "COLUMNS", "LINES", "PWD", "OLDPWD", "SHLVL", "_=")


class _Borrowed(forkserver.ForkServer):
    """The fork server of another process: its process id, and the address of its socket."""

    def __init__(self, pid: int, address: str) -> None:
        """Raises OSError if there is no such process."""
        super().__init__()
        server: Any = self
        self._end = os.pidfd_open(pid)
        server._forkserver_pid, server._forkserver_address = pid, address
        server._forkserver_alive_fd = os.open(os.devnull, os.O_RDONLY)  # its owner alone keeps the fork server alive

    def ensure_running(self) -> None:
        """Does nothing for the fork server: `borrow` notices its end."""
        resource_tracker.ensure_running()

    @property
    def folder(self) -> Path:
        """The folder of the socket and of temporary files, which the fork server deletes when its owner has ended."""
        server: Any = self
        return Path(server._forkserver_address).parent

    @property
    def ended(self) -> bool:
        poll = select.poll()
        poll.register(self._end, select.POLLIN)
        return bool(poll.poll(0))


#: The process id of the fork server that this process started, with the result of `digest` at that time.
_started: dict[int, str] = {}


def note_start() -> None:
    """Notes what the fork server of this process took over, if this process has just started it."""
    pid = own()
    if pid is not None and pid not in _started:
        _started.clear()
        _started[pid] = digest()


def own() -> int | None:
    """The process id of the fork server that this process started; None if it has none, or a borrowed one."""
    server: Any = forkserver._forkserver
    return None if isinstance(server, _Borrowed) else server._forkserver_pid


def end_of_current() -> int:
    """A descriptor that is readable when the fork server of this process has ended; -1 where there is none."""
    server: Any = forkserver._forkserver
    try:
        return os.pidfd_open(server._forkserver_pid)
    except (AttributeError, OSError):  # not Linux; or it has ended already
        return -1


def offered() -> dict[str, str]:
    """The environment variable by which another process can take the fork server that this process has, if any."""
    server: Any = forkserver._forkserver
    if isinstance(server, _Borrowed):
        return {OFFER: os.environ[OFFER]}
    about = {"pid": server._forkserver_pid, "address": server._forkserver_address}
    return {OFFER: json.dumps({**about, "same": same})} if (same := _started.get(about["pid"])) else {}


def borrow() -> Path | None:
    """Takes the offered fork server, unless this process has one; returns the owner's folder for temporary files.

    Returns None if this process has a fork server of its own, or no offer fits. If a borrowed fork server has ended,
    this process has none again.
    """
    server: Any = forkserver._forkserver
    if isinstance(server, _Borrowed):
        if not server.ended:
            return server.folder
        _use(forkserver.ForkServer())
    elif server._forkserver_pid is None and (offer := os.environ.get(OFFER)):
        with contextlib.suppress(AttributeError, KeyError, OSError, TypeError, ValueError):  # it ended; not our offer
            about = json.loads(offer)
            other = _Borrowed(about["pid"], about["address"])
            if about["same"] == digest() and not other.ended:
                _use(other)
                return other.folder
    return None


@contextlib.contextmanager
def used(server: forkserver.ForkServer) -> Iterator[None]:
    """Makes multiprocessing take this fork server in this context."""
    before: Any = forkserver._forkserver
    _use(server)
    try:
        yield
    finally:
        _use(before)


def _use(server: forkserver.ForkServer) -> None:
    """Makes multiprocessing take this fork server."""
    module: Any = forkserver
    module._forkserver = server
    for name in ("ensure_running", "get_inherited_fds", "connect_to_new_process", "set_forkserver_preload"):
        setattr(module, name, getattr(server, name))


def digest() -> str:
    """A hash of everything that a fork server takes over from the process that starts it."""
    variables = sorted(f"{k}={v}" for k, v in os.environ.items() if not f"{k}=".startswith(_IGNORED))
    limits = [resource.getrlimit(n) for name, n in sorted(vars(resource).items()) if name.startswith("RLIMIT_")]
    about = (variables, limits, str(ROOT), sys.executable, sys.flags, os.getuid())
    return hashlib.sha256(repr(about).encode()).hexdigest()
