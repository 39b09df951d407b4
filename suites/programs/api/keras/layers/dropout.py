"""Layers of noise while training: what the documentation says of each number, and the share or the moments of many.

The layers have a seed, so that a run repeats. With another seed, a test is wrong at most once in 10^9 runs: bounds are
more than six standard deviations of 4,000 numbers.
"""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls

_SHAPE = (4, 10, 10, 10)
#: The negative limit of SELU: https://arxiv.org/abs/1706.02515.
_LIMIT = -1.7580993408473766
_SCALE = (0.75 * (1 + 0.25 * _LIMIT**2)) ** -0.5


def _trained(tf, make, x):
    """The result of the layer while training, and its size relative to x."""
    with tf.keras.StatelessScope(initialize_variables=False):  # the state of the seed is a tensor
        y = make(tf, x.dtype.name)(x, training=True)
    return y, y / x


def _about(tf, value, expected, within):
    return tf.abs(tf.reduce_mean(value) - expected) < within


def _dropout(tf, x):
    _, factors = _trained(tf, lambda tf, d: tf.keras.layers.Dropout(0.75, seed=1, dtype=d), x)
    kept = tf.greater(factors, 2)
    right = tf.reduce_all(tf.equal(factors, tf.where(kept, 4 * tf.ones_like(x), tf.zeros_like(x))))
    return right, _about(tf, tf.cast(kept, x.dtype), 0.25, 0.05)


def _spatial(make, axes):
    """Whether each channel is kept or dropped as a whole, and whether both occur."""

    def program(tf, x):
        _, factors = _trained(tf, make, x)
        least, most = tf.reduce_min(factors, axes), tf.reduce_max(factors, axes)
        whole = tf.reduce_all(tf.equal(least, most))
        return whole, tf.equal(tf.reduce_min(least), 0) & tf.equal(tf.reduce_max(most), 2)

    return program


def _alpha(tf, x):
    y, _ = _trained(tf, lambda tf, d: tf.keras.layers.AlphaDropout(0.25, seed=1, dtype=d), x)
    shift = -_SCALE * _LIMIT * 0.25
    kept = tf.abs(y - (_SCALE * x + shift)) < 1e-5
    right = kept | (tf.abs(y - (_SCALE * _LIMIT + shift)) < 1e-5)
    return tf.reduce_all(right), _about(tf, tf.cast(kept, x.dtype), 0.75, 0.05)


def _noise(tf, x):
    y, _ = _trained(tf, lambda tf, d: tf.keras.layers.GaussianNoise(0.5, seed=1, dtype=d), x)
    return _about(tf, y - x, 0, 0.05), _about(tf, tf.square(y - x), 0.25, 0.04)


def _gaussian(tf, x):
    _, factors = _trained(tf, lambda tf, d: tf.keras.layers.GaussianDropout(0.5, seed=1, dtype=d), x)
    return _about(tf, factors, 1, 0.1), _about(tf, tf.square(factors - 1), 1, 0.15)


def _call(name, program):
    return Call(name=f"keras.layers.{name}", program=program, reference=lambda x: (np.True_, np.True_), outputs=2)


_CALLS = (
    _call("Dropout", _dropout),
    _call(
        "SpatialDropout1D",
        lambda tf, x: _spatial(lambda tf, d: tf.keras.layers.SpatialDropout1D(0.5, seed=1, dtype=d), [1])(
            tf, tf.reshape(x, (4, 100, 10))
        ),
    ),
    _call(
        "SpatialDropout2D",
        _spatial(lambda tf, d: tf.keras.layers.SpatialDropout2D(0.5, seed=1, dtype=d), [1, 2]),
    ),
    _call(
        "SpatialDropout3D",
        lambda tf, x: _spatial(lambda tf, d: tf.keras.layers.SpatialDropout3D(0.5, seed=1, dtype=d), [1, 2, 3])(
            tf, tf.reshape(x, (4, 5, 2, 10, 10))
        ),
    ),
    _call("AlphaDropout", _alpha),
    _call("GaussianNoise", _noise),
    _call("GaussianDropout", _gaussian),
)

SPECS = calls(
    "api-keras-noise",
    *_CALLS,
    recipes={"plain": lambda draw, dtype: ((1 + draw.uniform(*_SHAPE, low=0, high=1)).astype(dtype),)},
    constant=tuple(f"output[{i}]" for i in range(2 * len(_CALLS))),
    tier="full",
)
