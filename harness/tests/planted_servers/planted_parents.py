"""Programs that give the id of the parent of their device server: the fork server."""

import os

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import scalar
from tf_opdiff.harness.spec.spec import Spec

SPECS = tuple(
    Spec(
        name=f"parent-{number}",
        program=lambda tf, x: tf.floor(0 * x) + os.getppid(),
        reference=lambda x: np.zeros_like(x),
        recipes={"scalar": scalar},
        dtypes=("float64",),
        modes=("eager",),
        ops="Floor",
    )
    for number in range(4)
)
