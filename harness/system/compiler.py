"""Compiler: builds of small native libraries, and the folder that caches them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tf_opdiff.harness.paths import cache_folder

#: Time limit of a compiler in seconds; in a device server `--op-timeout` can end it earlier, with the server.
LIMIT = 600.0
_PREFIX = "build-"
#: The most characters of a compiler's output that are read.
_MOST = 1 << 16


def cache() -> Path:
    """The folder of compiled libraries, which is that of all caches; created if it is missing."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def workspace() -> Iterator[Path]:
    """A folder in the cache for one build, deleted at its end. Folders of killed builds are deleted too.

    A build holds a lock on a file in its folder, which the kernel lets go of when the process dies. Folders are made,
    locked and looked through by one process at a time, so that nobody deletes a folder that is not locked yet.
    """
    with contextlib.ExitStack() as stack:
        with (cache() / "builds.lock").open("w") as alone:
            fcntl.flock(alone, fcntl.LOCK_EX)
            for folder in cache().glob(f"{_PREFIX}*"):
                _delete_unless_in_use(folder)
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=cache()))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            fcntl.flock(stack.enter_context((folder / "lock").open("w")), fcntl.LOCK_EX)
        yield folder


def _delete_unless_in_use(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)


def library(source: Path, *options: str) -> Path:
    """The shared library of a C file, compiled once with these options and stored in the cache.

    Raises:
      OSError: the machine has no C compiler, or compilation fails or takes too long.
    """
    stored = cache() / f"{source.stem}.so"
    if not stored.exists() or stored.stat().st_mtime < source.stat().st_mtime:
        cc = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
        if not cc:
            raise OSError("there is no C compiler (cc, gcc, clang) on the PATH")
        with workspace() as folder:
            compiled = folder / stored.name
            if why := failure([cc, "-shared", "-fPIC", *options, "-o", str(compiled), str(source)]):
                raise OSError(why)
            os.replace(compiled, stored)
    return stored


def failure(command: Sequence[str], limit: float = LIMIT) -> str:
    """Runs a compiler; returns why it failed, in one line with its first errors, or nothing.

    One that takes longer than `limit` seconds is killed, with all that it started.

    Raises:
      OSError: it can't be started.
    """
    name = Path(command[0]).name
    with (
        tempfile.TemporaryFile("w+", errors="replace") as output,  # a pipe would wait for all that hold it
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            return f"{name} was killed: expected it to end within {limit:g} s"
        finally:
            if process.returncode is None:
                _kill(process.pid)
        output.seek(0)
        lines = output.read(_MOST).splitlines()
    errors = [line for line in lines if "error" in line or "fatal" in line] or lines
    return f"{name} failed: {' '.join(errors[:3]) or f'exit status {status}'}" if status else ""


def _kill(pid: int) -> None:
    """Kills a process and what it started: g++ only runs other programs, which would go on without it.

    They are in the process group of ours, so that they end with a device server that is killed.
    """
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)  # it starts no more, and leaves the ids of those that ended alone
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in path.read_text().split():
                _kill(int(child))
        os.kill(pid, signal.SIGKILL)
