"""Normalization layers: https://keras.io/api/layers/normalization_layers/."""

import numpy as np

from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import from_one, plain

#: The roundings of a mean, of a variance, of a root and of a quotient.
_UNITS = 12
_EPSILON = 2.0**-10


def _centered(x, axes):
    """The tensor without its mean, its mean and its variance; both keep the axes."""
    mean = np.mean(x, axis=axes, keepdims=True)
    return x - mean, mean, np.mean((x - mean) ** 2, axis=axes, keepdims=True)


def _normalized(x, axes):
    off, _, variance = _centered(x, axes)
    return off / np.sqrt(variance + _EPSILON)


def _of_batch(x, gamma, beta, moving_mean, moving_variance):
    """By the statistics of the batch, and the moving averages after it, with momentum 3/4."""
    _, mean, variance = _centered(x, (0, 1))
    return (
        gamma * _normalized(x, (0, 1)) + beta,
        0.75 * moving_mean + 0.25 * mean[0, 0],
        0.75 * moving_variance + 0.25 * variance[0, 0],
    )


def _trained(layer, x):
    return layer(x, training=True), layer.moving_mean.value, layer.moving_variance.value


def _in_groups(x, gamma, beta):
    """Two groups of channels, each normalized over all places."""
    groups = x.reshape(*x.shape[:-1], 2, -1)
    return gamma * _normalized(groups, (1, 3)).reshape(x.shape) + beta


def _unit(x):
    return x / np.sqrt(np.sum(x * x))


def _spectral(x, kernel, u, bias):
    """The kernel is divided by its largest singular value, estimated by one power iteration that begins with `u`.

    Gradients take the vectors of the iteration as constants: https://arxiv.org/abs/1802.05957.
    """
    v = _unit(u.real @ kernel.real.T)
    u = _unit(v @ kernel.real)
    return x @ (kernel / ((v @ kernel) @ u.T)) + bias


SPECS = (
    layers(
        "api-keras-normalizing",
        Layer(
            name="LayerNormalization",
            make=lambda tf, d: tf.keras.layers.LayerNormalization(epsilon=2**-10, dtype=d),
            formula=lambda x, gamma, beta: gamma * _normalized(x, -1) + beta,
            shapes=((2, 3, 4),),
            weights=((4,), (4,)),
            units=_UNITS,
        ),
        Layer(
            name="GroupNormalization",
            make=lambda tf, d: tf.keras.layers.GroupNormalization(2, epsilon=2**-10, dtype=d),
            formula=_in_groups,
            shapes=((2, 3, 4),),
            weights=((4,), (4,)),
            units=_UNITS,
        ),
        Layer(
            name="RMSNormalization",
            make=lambda tf, d: tf.keras.layers.RMSNormalization(epsilon=2**-10, dtype=d),
            formula=lambda x, scale: scale * x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + _EPSILON),
            shapes=((2, 3, 4),),
            weights=((4,),),
            units=_UNITS,
        ),
        Layer(
            name="UnitNormalization",
            make=lambda tf, d: tf.keras.layers.UnitNormalization(axis=1, dtype=d),
            formula=lambda x: x / np.sqrt(np.sum(x * x, axis=1, keepdims=True)),
            shapes=((2, 3, 4),),
            units=_UNITS,
        ),
        Layer(
            name="Normalization",
            make=lambda tf, d: tf.keras.layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 1.0, 0.25], dtype=d),
            formula=lambda x: (x - np.array([1.0, 2.0, 3.0])) / np.array([2.0, 1.0, 0.5]),
            shapes=((2, 3),),
            units=2,
        ),
        recipes={"plain": plain},
        ops="Rsqrt;Mean",
    ),
    layers(
        "api-keras-batch-normalizing",
        Layer(
            name="BatchNormalization",
            label="of the batch",
            make=lambda tf, d: tf.keras.layers.BatchNormalization(momentum=0.75, epsilon=2**-10, dtype=d),
            call=_trained,
            built=1,
            formula=_of_batch,
            shapes=((3, 4, 2),),
            weights=((2,), (2,), (2,), (2,)),
            units=_UNITS,
            outputs=3,
        ),
        Layer(
            name="BatchNormalization",
            label="of moving averages",
            make=lambda tf, d: tf.keras.layers.BatchNormalization(epsilon=2**-10, dtype=d),
            options={"training": False},
            formula=lambda x, gamma, beta, mean, variance: gamma * (x - mean) / np.sqrt(variance + _EPSILON) + beta,
            shapes=((3, 4, 2),),
            weights=((2,), (2,), (2,), (2,)),
            units=_UNITS,
        ),
        Layer(
            name="SpectralNormalization",
            make=lambda tf, d: tf.keras.layers.SpectralNormalization(tf.keras.layers.Dense(3, dtype=d), dtype=d),
            options={"training": True},
            formula=_spectral,
            shapes=((3, 4),),
            weights=((4, 3), (1, 3), (3,)),
            unconnected=(2,),
            units=_UNITS,
        ),
        recipes={"plain": from_one},
        ops="Rsqrt;Mean",
    ),
)
