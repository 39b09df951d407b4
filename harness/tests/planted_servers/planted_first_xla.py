"""Planted specs for XLA mode: the first one fails before XLA has compiled anything, the others have results."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Spec


def _fails(tf, x):
    raise tf.errors.InvalidArgumentError(None, None, "planted")


def _spec(name, program, reference, vjp=None, **more):
    settings = {"ops": "", "ulp": {"output": 64, "grad": 64}, "recipes": {"plain": plain}, "modes": ("xla",)}
    return Spec(name=name, program=program, reference=reference, vjp=vjp, **(settings | more))


SPECS = (
    _spec("aa-fails-first", _fails, lambda x: x, ops="Floor"),
    _spec("bb-exp", lambda tf, x: tf.exp(x), np.exp, lambda g, x: (g * np.exp(x),)),
    _spec("cc-tanh", lambda tf, x: tf.tanh(x), np.tanh, lambda g, x: (g / np.cosh(x) ** 2,)),
)
