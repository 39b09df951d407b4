"""A planted spec whose inputs and promises take long enough to be stored."""

import time

import numpy as np

from tf_opdiff.harness.judge.promise_cache import WORTH
from tf_opdiff.harness.spec.recipes import plain
from tf_opdiff.harness.spec.spec import Spec


def slowly(draw, dtype):
    """Plain values, after several times the CPU time from which on a case is stored."""
    until = time.thread_time() + 3 * WORTH
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
