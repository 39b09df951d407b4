"""Programs that kill the fork server under all device servers, or their own server after that."""

import os
import signal

from tf_opdiff.harness.tests.planted_specs.planted import TWO, floor, lethal

SPECS = (
    floor("kills-the-fork-server", lambda tf, x: (os.kill(os.getppid(), signal.SIGKILL), tf.floor(x))[1], recipes=TWO),
    lethal("then-dies", os.abort),
    *(floor(f"fine-{n}", lambda tf, x: tf.floor(x), recipes=TWO) for n in range(4)),
)
