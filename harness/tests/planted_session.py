"""Planted specs for whole sessions: some die, most are right, one is stale."""

import os
import signal

from tf_opdiff.harness.tests.planted import TWO, floor, lethal

SPECS = (
    lethal("dies", os.abort),
    lethal("kills-the-worker", lambda: os.environ.get("SPARE") or kill_the_worker(), modes=("eager",)),
    *(floor(f"fine-{n}", lambda tf, x: tf.floor(x), recipes=TWO) for n in range(6)),
)


def kill_the_worker():
    os.kill(worker(), signal.SIGKILL)


def worker():
    """The process that runs items: the parent of the fork server, which is the parent of the device server."""
    with open(f"/proc/{os.getppid()}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])
