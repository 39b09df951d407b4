"""Fork server: the process that forks the children. It has imported TensorFlow and has run nothing with it.

TensorFlow reads some settings at its import, so children with such settings have a fork server of their own.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing as mp
import os
import select
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.processes import server_python, shared_fork_server
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.system.interrupt import uninterrupted

#: Seconds that a process may take to start, TensorFlow's import included; an emulator takes ten times as long. See
#: `allow_to_start`.
START_TIMEOUT = 1800.0 if os.environ.get(server_python.VARIABLE) else 180.0
#: Seconds that a killed fork server may take to end.
_GRACE = 10.0
CONTEXT = mp.get_context("forkserver")
_scratch = ""
#: Threads of a sweep start processes at the same time: one changes the environment after the other.
_ENVIRONMENT = threading.RLock()
#: Hash of an environment → the fork server that imports TensorFlow in it.
_of_environments: dict[str, forkserver.ForkServer] = {}
#: The variable that keeps the current folder off the path of imports, and our value for it.
SAFE_PATH, OURS = "PYTHONSAFEPATH", "tf-opdiff"


def safe_path() -> dict[str, str]:
    """The environment of a Python that imports nothing from the current folder, such as a `pickle.py` there.

    multiprocessing starts processes by `python -c`. `leave_safe_path` removes the variable again: programs of a device
    server have the user's environment.
    """
    return {SAFE_PATH: os.environ.get(SAFE_PATH) or OURS}


def leave_safe_path() -> None:
    """In a child: removes the variable of `safe_path`, unless the user has set it."""
    if os.environ.get(SAFE_PATH) == OURS:
        del os.environ[SAFE_PATH]


@contextlib.contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Environment variables for the processes that are started in this context, in which one thread is at a time."""
    with _ENVIRONMENT:
        before = {name: os.environ.get(name) for name in settings}
        os.environ.update(settings)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def scratch() -> Path:
    """The folder for temporary files of this process's children.

    This process deletes it at its end. If this process is killed, its fork server does so; with a borrowed fork server,
    the folder is in the owner's folder.
    """
    global _scratch
    if not os.path.isdir(_scratch):
        with uninterrupted():
            _scratch = tempfile.mkdtemp(prefix="opdiff-", dir=shared_fork_server.borrow())
            atexit.register(_delete, _scratch, os.getpid())
    return Path(_scratch)


def use_as_scratch(folder: str) -> None:
    """Makes a folder the one of `scratch`, before there is another; somebody else deletes it, or the fork server."""
    global _scratch
    _scratch = folder


def allow_to_start(seconds: float) -> None:
    """Sets the seconds that a process may take to start: an emulator may need more."""
    global START_TIMEOUT
    START_TIMEOUT = seconds


def _delete(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def start_fork_server(log: Path, settings: Mapping[str, str] | None = None) -> None:
    """Starts the fork server unless it runs; it imports TensorFlow and writes to `log`, not to this process's stderr.

    If another process offers its fork server, this process takes that one. Its temporary files and those of its
    children are in one folder. The fork server deletes the folder when its owner has ended, in whatever way. `log`
    need not be in a run directory: `start_early` starts the fork server before there is one. `settings` are those of
    `fork_server_of`.

    Raises:
      OSError: it can't be started.
    """
    python = server_python.other_python()
    with uninterrupted():
        folder = str(scratch())
        variables = {
            "TF_OPDIFF_LOG": str(log),
            "TF_OPDIFF_SCRATCH": folder,
            "TMPDIR": folder,
            **safe_path(),
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            **server_python.import_path(),
            "TF_CPP_MIN_LOG_LEVEL": os.environ.get("TF_CPP_MIN_LOG_LEVEL", "1"),
            "TF_FORCE_GPU_ALLOW_GROWTH": "true",
            **(settings or {}),
        }
        config: Any = mp.process.current_process()
        config._config.setdefault("tempdir", folder)  # for the socket: multiprocessing's own would outlive a kill
        with environment(variables):
            if not settings:
                shared_fork_server.borrow()
            if python:
                resource_tracker.ensure_running()  # it needs no other Python
                server_python.use(python)
            CONTEXT.set_forkserver_preload(["tf_opdiff.harness.device.processes.preload"])
            forkserver.ensure_running()
        if not settings:
            shared_fork_server.note_start()


@contextlib.contextmanager
def fork_server_of(settings: Mapping[str, str], log: Path) -> Iterator[None]:
    """Makes multiprocessing fork from a process that has imported TensorFlow under these settings, in this context.

    Starts that process unless it runs. With settings, it has the environment that this process has now; without, it is
    the fork server of all other children, which keeps the environment of its start. One thread is in this context at a
    time.

    Raises:
      OSError: it can't be started.
    """
    with _ENVIRONMENT, contextlib.ExitStack() as stack:
        if settings:
            scratch()  # it may borrow the fork server of the other children
            with environment(settings):
                server = _of_environments.setdefault(shared_fork_server.digest(), forkserver.ForkServer())
            stack.enter_context(shared_fork_server.used(server))
        start_fork_server(log, settings)
        yield


def early_log() -> Path:
    """The log of a fork server that is started before there is a run directory."""
    return scratch() / "fork-server.log"


def start_early() -> None:
    """Starts the fork server, so that it imports TensorFlow while this process does other work.

    If that is not possible, nothing happens: the first child is refused later, and the message says why.
    """
    with contextlib.suppress(OSError):
        start_fork_server(early_log())


def stop_early() -> None:
    """Kills the fork server that this process started, if any, and deletes its files: nothing will run.

    It has ended before its folder is deleted: until then it can write another file there.
    """
    pid = shared_fork_server.own()
    if pid is None:
        return
    end = shared_fork_server.end_of_current()
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    if end >= 0:
        select.select([end], [], [], _GRACE)
        os.close(end)
    _delete(_scratch, os.getpid())


@contextlib.contextmanager
def watched_fork_server() -> Iterator[None]:
    """Kills a fork server that does not fork: multiprocessing waits for it without a limit."""
    server: Any = forkserver._forkserver
    watch = threading.Timer(START_TIMEOUT, lambda: os.kill(server._forkserver_pid, signal.SIGKILL))
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def leave_fork_server() -> None:
    """In a fork: closes the descriptor that would keep the fork server alive after its own parent has ended."""
    server: Any = forkserver._forkserver
    if server._forkserver_alive_fd is not None:
        os.close(server._forkserver_alive_fd)
        server._forkserver_alive_fd = None
