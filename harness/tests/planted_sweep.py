"""Planted specs for sweeps: right, wrong at one bit pattern, lethal in one block, wrong for subnormals only."""

import os

import numpy as np

from harness.inputs import bit_patterns, plain
from harness.spec import Spec

WRONG = 0x40234567
LETHAL = 0x40500000


def _off_by_one_ulp(tf, x):
    y = tf.floor(x)
    here = tf.equal(tf.bitcast(x, tf.int32), WRONG)
    return tf.bitcast(tf.bitcast(y, tf.int32) + tf.cast(here, tf.int32), tf.float32)


def _lethal(tf, x):
    def act(value):
        if (value.view(np.uint32) == LETHAL).any():
            os.abort()
        return value

    return tf.floor(tf.ensure_shape(tf.numpy_function(act, [x], x.dtype), x.shape))


def _double(tf, x):
    """Wrong for one subnormal of a block, in the gradient of one normal number."""

    @tf.custom_gradient
    def doubled(x):
        return 2 * x, lambda g: g * tf.where(tf.equal(tf.bitcast(x, tf.int32), WRONG), 3.0, 2.0)

    return doubled(x)


def _spec(name, program, **more):
    defaults = {"reference": np.floor, "vjp": lambda g, x: None, "recipes": {"bits": bit_patterns}, "ops": "Floor"}
    return Spec(name=name, program=program, **defaults | more)


SPECS = (
    _spec("fine", lambda tf, x: tf.floor(x), dtypes=("float16", "float32")),
    _spec("wrong-once", _off_by_one_ulp, vjp=None),
    _spec("wrong-gradient-once", _double, reference=lambda x: 2 * x, vjp=lambda g, x: 2 * g, ops=""),
    _spec("dies-once", _lethal, vjp=None, modes=("eager",)),
    _spec("not-elementwise", lambda tf, x: x, reference=np.cumsum, ops="", vjp=None),
    _spec("no-promise", lambda tf, x: tf.floor(x), recipes={"plain": plain}),
)
