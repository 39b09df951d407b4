"""Planted specs for sweeps: right, wrong at one bit pattern, lethal in one block, misled by a quick reference."""

import os
from pathlib import Path

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import bit_patterns, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.spec.tolerances import precision

WRONG = 0x40234567
LETHAL = 0x40500000
#: As long as there is no such file, `dies-at-first` does. A server has a folder for temporary files of its own.
CALM = Path("/tmp") / f"opdiff-calm-{os.getuid()}"


def _off_by_one_ulp(tf, x):
    y = tf.floor(x)
    here = tf.equal(tf.bitcast(x, tf.int32), WRONG)
    return tf.bitcast(tf.bitcast(y, tf.int32) + tf.cast(here, tf.int32), tf.float32)


def _lethal(tf, x, calm=lambda: False):
    def act(value):
        if (value.view(np.uint32) == LETHAL).any() and not calm():
            os.abort()
        return value

    return tf.floor(tf.ensure_shape(tf.numpy_function(act, [x], x.dtype), x.shape))


def _double(tf, x):
    """Wrong for one subnormal of a block, in the gradient of one normal number."""

    @tf.custom_gradient
    def doubled(x):
        return 2 * x, lambda g: g * tf.where(tf.equal(tf.bitcast(x, tf.int32), WRONG), 3.0, 2.0)

    return doubled(x)


def _misled(x):
    return np.where(precision.allowed() & (x > 2.0**20), 1.01 * x, np.floor(x))


def _spec(name, program, **more):
    defaults = {"reference": np.floor, "vjp": lambda g, x: None, "recipes": {"bits": bit_patterns}, "ops": "Floor"}
    return Spec(name=name, program=program, **defaults | {"every_input": True} | more)


SPECS = (
    _spec("fine", lambda tf, x: tf.floor(x), dtypes=("float16", "float32")),
    _spec("wrong-once", _off_by_one_ulp, vjp=None),
    _spec("wrong-gradient-once", _double, reference=lambda x: 2 * x, vjp=lambda g, x: 2 * g, ops=""),
    _spec("dies-once", _lethal, vjp=None, modes=("eager",)),
    _spec("dies-at-first", lambda tf, x: _lethal(tf, x, CALM.exists), vjp=None, modes=("eager",)),
    _spec("quick-reference-wrong", lambda tf, x: tf.floor(x), reference=_misled, dtypes=("bfloat16",)),
    _spec("two-inputs", lambda tf, x, y: tf.floor(x)),
    _spec("not-elementwise", lambda tf, x: x, reference=np.cumsum, ops="", vjp=None),
    _spec("no-promise", lambda tf, x: tf.floor(x), recipes={"plain": plain}, every_input=False),
)
