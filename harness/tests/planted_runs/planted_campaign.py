"""Planted specs for campaigns: one waits where a test wants it to, some die, most are right."""

import os
import sys
import threading
from pathlib import Path

from tf_opdiff.harness.tests.planted_runs.planted_session import kill_the_worker, worker
from tf_opdiff.harness.tests.planted_specs.planted import HANGING, ONE, _now, floor, lethal

#: A folder; where there is a FIFO `held` in it, the op says there where it runs, and goes no further.
FOLDER = "TF_OPDIFF_PLANTED"


def _wait_if_held():
    gate = Path(os.environ[FOLDER], "held")
    if gate.exists():
        with gate.open("w") as told:
            told.write(f"{os.environ['RAY_RAYLET_PID']} {worker()} {os.getpid()}\n")
        threading.Event().wait()


def _be_alone():
    if "ray" in sys.modules:
        raise RuntimeError("a device server has imported Ray")


SPECS = (
    floor("alone", lambda tf, x: _now(_be_alone)(tf, tf.floor(x)), vjp=None, modes=("eager",)),
    floor("held", lambda tf, x: _now(_wait_if_held)(tf, tf.floor(x)), vjp=None, modes=("eager",)),
    *(floor(f"fine-{n}", lambda tf, x: tf.floor(x), recipes=ONE, modes=("eager",)) for n in range(23)),
    lethal("aborts", os.abort, modes=("eager",)),
    lethal("kills-its-worker", kill_the_worker, modes=("eager",)),
    HANGING[0],
)
