"""Rounding: ceil, floor, rint, round. None of them has a gradient: it is unconnected, not zero."""

import numpy as np

from harness.inputs import FLOATS, ROUNDING
from harness.spec import Spec

SPECS = tuple(
    Spec(
        name=name, ops=op, program=program, reference=reference, vjp=lambda g, x: None, recipes=ROUNDING, dtypes=FLOATS
    )
    for name, op, program, reference in (
        ("ceil", "Ceil", lambda tf, x: tf.math.ceil(x), np.ceil),
        ("floor", "Floor", lambda tf, x: tf.floor(x), np.floor),
        ("rint", "Rint", lambda tf, x: tf.math.rint(x), np.rint),
        ("round", "Round", lambda tf, x: tf.round(x), np.rint),
    )
)
