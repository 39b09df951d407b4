"""A function that fails when it runs, and whose graph has no input; then a function that works."""

import numpy as np

from tf_opdiff.harness.spec.contract import Raises
from tf_opdiff.harness.tests.planted_specs.planted import floor


def _value_of_nothing(tf, x):
    nothing = tf.raw_ops.OptionalNone()
    return tf.raw_ops.OptionalGetValue(optional=nothing, output_types=[x.dtype], output_shapes=[x.shape])[0]


SPECS = (
    floor(
        "fails",
        _value_of_nothing,
        reference=lambda x: Raises("INVALID_ARGUMENT"),
        vjp=None,
        ops="OptionalNone;OptionalGetValue",
        modes=("function",),
    ),
    floor("works", lambda tf, x: tf.floor(x), reference=np.floor, modes=("function",)),
)
