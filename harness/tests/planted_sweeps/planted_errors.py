"""A floor that is 3 too large for one number, of every dtype; one of integers; one that dies in eager mode."""

import os

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import bit_patterns
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.tests.planted_specs.planted import lethal

WRONG = -5.5


def _wrong_once(tf, x):
    return tf.where(tf.equal(x, WRONG), tf.floor(x) + 3, tf.floor(x))


def _with_wrong(draw, dtype):
    return (np.array([1.25, WRONG, -5.25, 7.5, np.inf, np.nan, 0], dtype),)


SPECS = (
    Spec(
        name="wrong-once",
        ops="Floor",
        program=_wrong_once,
        reference=np.floor,
        vjp=lambda g, x: None,
        recipes={"bits": bit_patterns, "with-wrong": _with_wrong},
        every_input=True,
        dtypes=("float16", "float32"),
    ),
    Spec(
        name="integers",
        ops="Neg",
        program=lambda tf, x: -x,
        reference=np.negative,
        recipes={"few": lambda draw, dtype: (np.arange(9, dtype=dtype),)},
        dtypes=("int32",),
    ),
    lethal("dies", os.abort, modes=("eager", "function")),
)
