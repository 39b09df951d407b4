"""Planted batches: the sums of rows, right and altered, and products whose rows have other bits alone."""

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.batch import batches


def _rows(draw, dtype):
    return (draw.values(dtype, 2, 5),)


def _sums(name, program, **more):
    fields = {
        "ops": "Sum",
        "reference": lambda x: np.sum(x, axis=-1),
        "bound": {"output": lambda u, g, x: 8 * u * np.abs(x).sum(-1)},
    }
    return batches(Spec(name=name, program=program, recipes={"plain": _rows}, **fields | more), _rows)


def _altered(tf, x):
    """The sums, each with a little of the next row."""
    return tf.reduce_sum(x, axis=-1) + tf.roll(x[:, 0], -1, 0) / 64


def _one_ulp(tf, x):
    """Twice the first column, and one ULP more in a row alone."""
    bits = tf.bitcast(x[:, 0] + x[:, 0], tf.int32) + (1 if x.shape[0] == 1 else 0)
    return tf.bitcast(bits, tf.float32)


SPECS = (
    *_sums("sums", lambda tf, x: tf.reduce_sum(x, axis=-1)),
    *_sums("sums-altered", _altered, reference=lambda x: np.sum(x, axis=-1) + np.roll(x[:, 0], -1, 0) / 64),
    *_sums("one-ulp", _one_ulp, reference=lambda x: 2 * x[:, 0], bound={}, ulp={"output": 1}, ops="Bitcast"),
)
