"""Planted specs of batches: sums of rows, some of which depend on the size of the batch or on other rows."""

import numpy as np

from tf_opdiff.harness.spec.spec import Spec


def _sums(tf, x):
    return tf.reduce_sum(x, axis=-1)


def _by_size(row):
    """The sums, with one more in this row of a batch of several."""

    def program(tf, x):
        extra = tf.one_hot(row, x.shape[0], dtype=x.dtype) if x.shape[0] > 1 else tf.zeros_like(x[:, 0])
        return _sums(tf, x) - extra

    return program


def _sums_but_one(row):
    """What the altered program returns for a batch of five."""
    return lambda x: np.sum(x, axis=-1) - (np.arange(len(x)) == row)


def _ulps(count):
    """Twice the first column; in a row alone, so many ULPs away from zero."""

    def program(tf, x):
        bits = tf.bitcast(x[:, 0] + x[:, 0], tf.int32) + (count if x.shape[0] == 1 else 0)
        return tf.bitcast(bits, tf.float32)

    return program


def _leaking(tf, x):
    """The sums, and nothing of the next row, unless nothing is NaN."""
    return _sums(tf, x) + 0 * tf.roll(x[:, 0], -1, 0)


def _leaking_gradient(tf, x):
    @tf.custom_gradient
    def sums(x):
        def vjp(g):
            return (g + 0 * tf.roll(x[:, 0], -1, 0))[:, None] + tf.zeros_like(x)

        return _sums(tf, x), vjp

    return sums(x)


def _five(draw, dtype):
    return (draw.integers(5, 3, low=-8, high=9).astype(dtype),)


def _with_factors(draw, dtype):
    return draw.integers(5, 3, low=-8, high=9).astype(dtype), draw.integers(3, 2, low=-8, high=9).astype(dtype)


def _spec(name, program, **more):
    defaults = {
        "reference": lambda x: np.sum(x, axis=-1),
        "vjp": lambda g, x: (g[:, None] + 0 * x,),
        "recipes": {"five": _five},
        "ops": "Sum",
        "batch": (),
    }
    return Spec(name=name, program=program, **defaults | more)


SPECS = (
    _spec("rows", _sums),
    *(_spec(f"rows-by-size-{row}", _by_size(row), reference=_sums_but_one(row)) for row in (0, 2, 4)),
    *(
        _spec(
            f"rows-{count}-ulp",
            _ulps(count),
            reference=lambda x: 2 * x[:, 0],
            vjp=None,
            ulp={"output": 1},
            ops="Bitcast",
        )
        for count in (1, 3)
    ),
    _spec("rows-leaking", _leaking),
    _spec("rows-leaking-gradient", _leaking_gradient),
    _spec(
        "rows-with-factors",
        lambda tf, x, y: tf.raw_ops.MatMul(a=x, b=y),
        reference=lambda x, y: x @ y,
        vjp=lambda g, x, y: (g @ y.T, x.T @ g),
        recipes={"five": _with_factors},
        ops="MatMul",
        batch=(1,),
    ),
    _spec("rows-without-batch", lambda tf, x: tf.reduce_sum(x), reference=np.sum, vjp=None),
)
