"""Specs whose references kill the fork server of their process, and those that follow it: some of them, or all."""

import os
import select
import signal
import threading
from multiprocessing import forkserver

import numpy as np

from tf_opdiff.harness.tests.planted_specs.planted import TWO, floor

_stop = threading.Event()


def _kill(pid):
    """Kills a fork server, and waits until it has ended."""
    end = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    select.select([end], [], [])
    os.close(end)


def _kill_more(last, count):
    """Kills each fork server that follows the last one, as soon as it exists, until so many are killed."""
    while count and not _stop.wait(0.001):
        pid = forkserver._forkserver._forkserver_pid
        if pid not in (None, last):
            _kill(pid)
            last, count = pid, count - 1


def _killing(count):
    """Floor; kills so many fork servers, the first of them at once."""
    done = []

    def reference(x):
        if not done:
            done.append(True)
            first = forkserver._forkserver._forkserver_pid
            _kill(first)
            threading.Thread(target=_kill_more, args=(first, count - 1), daemon=True).start()
        return np.floor(x)

    return reference


def _sparing(x):
    _stop.set()
    return np.floor(x)


def _floor(name, reference):
    return floor(name, lambda tf, x: tf.floor(x), reference=reference, recipes=TWO, modes=("eager",), vjp=None)


SPECS = (
    _floor("before", np.floor),
    _floor("some-die", _killing(4)),
    _floor("between", np.floor),
    _floor("all-die", _killing(10**9)),
    _floor("after", _sparing),
)
