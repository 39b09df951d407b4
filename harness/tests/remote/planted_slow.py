"""Planted specs: the floor of a tensor, and a floor that never ends."""

import threading

from tf_opdiff.harness.tests.planted_specs.planted import floor, lethal

SPECS = (
    floor("quick", lambda tf, x: tf.floor(x), modes=("eager",)),
    lethal("waits", lambda: threading.Event().wait(), modes=("eager",)),
)
