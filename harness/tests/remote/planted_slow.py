"""Two floors, one of which never ends."""

import threading

from tf_opdiff.harness.tests.planted import floor, lethal

SPECS = (
    floor("quick", lambda tf, x: tf.floor(x), modes=("eager",)),
    lethal("waits", lambda: threading.Event().wait(), modes=("eager",)),
)
