"""Planted specs for runs that end early: one deletes the run's directory, one never ends, some are right."""

import os
import shutil
import threading

from tf_opdiff.harness.tests.planted_specs.planted import TWO, floor, lethal

SPECS = (
    floor("fine-before", lambda tf, x: tf.floor(x), recipes=TWO),
    lethal("deletes-the-run", lambda: shutil.rmtree(os.environ["DOOMED"]), modes=("eager",)),
    lethal("waits", lambda: threading.Event().wait(), modes=("eager",)),
    *(floor(f"fine-{n}", lambda tf, x: tf.floor(x), recipes=TWO) for n in range(6)),
)
