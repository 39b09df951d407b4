"""Layers of activation functions: https://keras.io/api/layers/activation_layers/."""

import numpy as np

from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import plain

_SHAPE = ((4, 6),)


def _softmax(x, axis):
    e = np.exp(x)
    return e / np.sum(e, axis=axis, keepdims=True)


SPECS = (
    layers(
        "api-keras-activating",
        Layer(
            name="ReLU",
            make=lambda tf, d: tf.keras.layers.ReLU(max_value=3.0, negative_slope=0.25, threshold=0.5, dtype=d),
            formula=lambda x: np.where(x.real >= 3, 3, np.where(x.real >= 0.5, x, 0.25 * (x - 0.5))),
            shapes=_SHAPE,
            units=2,
        ),
        Layer(
            name="LeakyReLU",
            make=lambda tf, d: tf.keras.layers.LeakyReLU(0.125, dtype=d),
            formula=lambda x: np.where(x.real > 0, x, 0.125 * x),
            shapes=_SHAPE,
        ),
        Layer(
            name="PReLU",
            make=lambda tf, d: tf.keras.layers.PReLU(shared_axes=(1,), dtype=d),
            formula=lambda x, alpha: np.where(x.real > 0, x, alpha * x),
            shapes=((2, 4, 3),),
            weights=((1, 3),),
            units=1,
        ),
        Layer(
            name="ELU",
            make=lambda tf, d: tf.keras.layers.ELU(1.5, dtype=d),
            formula=lambda x: np.where(x.real > 0, x, 1.5 * (np.exp(x) - 1)),
            shapes=_SHAPE,
            units=6,
            grad_units=64,  # the kernel adds 1 to e^x - 1, which is near -1: e^4 is 55
        ),
        Layer(
            name="Softmax",
            make=lambda tf, d: tf.keras.layers.Softmax(axis=(1, 2), dtype=d),
            formula=lambda x: _softmax(x, (1, 2)),
            shapes=((2, 3, 4),),
            units=8,
        ),
        Layer(
            name="Activation",
            make=lambda tf, d: tf.keras.layers.Activation("softsign", dtype=d),
            formula=lambda x: x / (1 + np.where(x.real < 0, -x, x)),
            shapes=_SHAPE,
            units=4,
        ),
        Layer(
            name="ThresholdedReLU",
            make=lambda tf, d: tf.keras.layers.ThresholdedReLU(theta=1.5, dtype=d),
            formula=lambda x: np.where(x.real > 1.5, x, 0),
            shapes=_SHAPE,
        ),
        recipes={"plain": plain},
        ops="Elu;Softsign",
    ),
)
