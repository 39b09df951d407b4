"""Layers that merge several tensors: https://keras.io/api/layers/merging_layers/."""

from functools import reduce

import numpy as np

from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import plain

#: Three tensors; the last one is broadcast.
_THREE = ((3, 4), (3, 4), (3, 1))


def _unit(x):
    """Each row divided by its length."""
    return x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True))


SPECS = (
    layers(
        "api-keras-merging",
        Layer(
            name="Add",
            make=lambda tf, d: tf.keras.layers.Add(dtype=d),
            formula=lambda x, y, z: x + y + z,
            shapes=_THREE,
            units=1,
        ),
        Layer(
            name="Subtract",
            make=lambda tf, d: tf.keras.layers.Subtract(dtype=d),
            formula=lambda x, y: x - y,
            shapes=((3, 4), (3, 1)),
            units=1,
        ),
        Layer(
            name="Multiply",
            make=lambda tf, d: tf.keras.layers.Multiply(dtype=d),
            formula=lambda x, y, z: x * y * z,
            shapes=_THREE,
            units=2,
        ),
        Layer(
            name="Average",
            make=lambda tf, d: tf.keras.layers.Average(dtype=d),
            formula=lambda x, y, z: (x + y + z) / 3,
            shapes=_THREE,
            units=2,
        ),
        Layer(
            name="Maximum",
            make=lambda tf, d: tf.keras.layers.Maximum(dtype=d),
            formula=lambda *xs: reduce(np.maximum, xs),
            shapes=_THREE,
        ),
        Layer(
            name="Minimum",
            make=lambda tf, d: tf.keras.layers.Minimum(dtype=d),
            formula=lambda *xs: reduce(np.minimum, xs),
            shapes=_THREE,
        ),
        Layer(
            name="Dot",
            make=lambda tf, d: tf.keras.layers.Dot(axes=(1, 2), dtype=d),
            formula=lambda x, y: np.einsum("bki,bjk->bij", x, y),
            shapes=((2, 4, 3), (2, 5, 4)),
            units=1,
        ),
        Layer(
            name="Dot",
            label="normalized",
            make=lambda tf, d: tf.keras.layers.Dot(axes=-1, normalize=True, dtype=d),
            formula=lambda x, y: np.sum(_unit(x) * _unit(y), axis=-1, keepdims=True),
            shapes=((3, 4), (3, 4)),
            units=8,
        ),
        recipes={"plain": plain},
        ops="AddV2;Sub;Mul;Maximum;Minimum",
    ),
)
