"""A program that kills the fork server of its process once, and then ends the process."""

import os
import select
import signal
from pathlib import Path

from tf_opdiff.harness.tests.planted_specs.planted import lethal


def _die():
    marker = Path(os.environ["TF_OPDIFF_TEST_MARKER"])
    if not marker.exists():
        marker.touch()
        parent = os.pidfd_open(os.getppid())
        os.kill(os.getppid(), signal.SIGKILL)
        select.select([parent], [], [])  # it has ended
    os.abort()


SPECS = (lethal("dies-with-its-fork-server", _die, modes=("eager",)),)
