"""A planted spec whose inputs and promises take long enough to be stored."""

import time

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Spec

#: Seconds of CPU.
SLOW = 0.2


def slowly(draw, dtype):
    """Plain values, after more CPU time than a cheap case takes on a busy machine."""
    until = time.thread_time() + SLOW
    while time.thread_time() < until:
        pass
    return plain(draw, dtype)


SPECS = (
    Spec(
        name="slow-inputs",
        program=lambda tf, x: tf.raw_ops.Floor(x=x),
        reference=np.floor,
        recipes={"slow": slowly, "plain": plain},
        ops="Floor",
        modes=("eager",),
    ),
)
