"""Planted specs for whole sessions: some die, most are right, one is stale."""

import os
import signal
import socket
import struct

from tf_opdiff.harness.tests.planted_specs.planted import TWO, floor, lethal

SPECS = (
    lethal("dies", os.abort),
    lethal("kills-the-worker", lambda: os.environ.get("SPARE") or kill_the_worker(), modes=("eager",)),
    *(floor(f"fine-{n}", lambda tf, x: tf.floor(x), recipes=TWO) for n in range(6)),
)


def kill_the_worker():
    os.kill(worker(), signal.SIGKILL)


def worker():
    """The process that runs items: it made the socket through which it asks this device server.

    The fork server may belong to another process, such as that of the tests.
    """
    others = {_peer(int(name)) for name in os.listdir("/proc/self/fd")} - {None, os.getpid(), os.getppid()}
    (asking,) = others
    return asking


def _peer(descriptor):
    """The process that made a socket pair; None for what is no socket."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as end:
            pid, _, _ = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    except OSError:
        return None
    return pid or None
