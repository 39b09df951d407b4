"""A spec whose recipe has each number once, and whose program is wrong where the largest number stands twice."""

import numpy as np

from tf_opdiff.harness.spec.spec import Spec


def program(tf, x):
    y = tf.square(x)
    two = tf.reduce_sum(tf.cast(tf.equal(x, 2.0), tf.float32))
    return tf.where(two > 1.5, y + 1.0, y)


SPECS = (
    Spec(
        name="tie-loses",
        program=program,
        reference=np.square,
        recipes={"numbers": lambda draw, dtype: (np.arange(4).astype(dtype),)},
        ops="Square",
        elementwise=True,
        dtypes=("float32",),
    ),
)
