"""A floor with one fault: of negative numbers, it gives the ceiling. Everything else about it is right."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, ROUNDING
from tf_opdiff.harness.spec.spec import Spec


def _ceiling_below_0(tf, x):
    return tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


SPECS = (
    Spec(
        name="floor",
        ops="Floor",
        program=_ceiling_below_0,
        reference=np.floor,
        vjp=lambda g, x: None,
        recipes=ROUNDING,
        dtypes=FLOATS,
    ),
)
