"""Child main: what a child process does before and after its work."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.device.processes.channel import Channel


def run(
    work: Callable[..., None],
    end: socket.socket,
    output: Any,
    life: Any,
    settings: Mapping[str, str],
    memory: int,
    *more: Any,
) -> None:
    """Does the work of a child process, then ends it, without waiting for threads that the work leaves behind.

    Args:
      work: work(channel, *more), the function to run.
      end: the child's end of the channel.
      output: the pipe that takes its output.
      life: the pipe that the process that asked for the child holds open.
      settings: environment variables; TMPDIR among them is the folder for its temporary files.
      memory: a limit in bytes; 0 for none.
      more: further arguments of the work.
    """
    _die_with(life)
    os.environ.update(settings)
    _enter(output.fileno(), memory)
    output.close()
    work(Channel(end), *more)
    sys.stdout.flush()
    os._exit(0)


def _die_with(life: Any) -> None:
    """Lets the kernel kill this process when the process that asked for it has ended, in whatever way.

    That process holds the other end of the pipe `life`, and never writes to it. `PR_SET_PDEATHSIG` would be about the
    end of the fork server, which may belong to a third process and does not matter to this one.
    """
    with contextlib.suppress(AttributeError, OSError):  # not Linux: the closed connection remains
        fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([life], [], [], 0)[0]:  # it has ended already
            os.kill(os.getpid(), signal.SIGKILL)
    _held.append(life)


#: The ends of pipes that stay open as long as this process lives.
_held: list[Any] = []


def _enter(output: int, memory: int) -> None:
    """Redirects output to a pipe and temporary files to a folder. When memory runs out, the kernel kills it first."""
    os.setpgid(0, 0)  # a kill reaches all that it starts, and Ctrl-C in a terminal its parent only
    os.dup2(output, 1)
    os.dup2(output, 2)
    # The fork server opened its own on its output: if that was a file, they would seek, which a pipe refuses.
    sys.stdout, sys.stderr = (os.fdopen(n, "w", 1, errors="backslashreplace", closefd=False) for n in (1, 2))
    tempfile.tempdir = os.environ["TMPDIR"]
    fork_server.leave_fork_server()
    fork_server.leave_safe_path()
    with contextlib.suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text("1000")
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
