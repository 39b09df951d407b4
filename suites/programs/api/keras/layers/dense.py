"""Layers of weights: dense layers and embeddings."""

import numpy as np

from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import plain


SPECS = (
    layers(
        "api-keras-dense",
        Layer(
            name="Dense",
            make=lambda tf, d: tf.keras.layers.Dense(3, dtype=d),
            formula=lambda x, kernel, bias: x @ kernel + bias,
            shapes=((4, 5),),
            weights=((5, 3), (3,)),
            units=2,
        ),
        Layer(
            name="EinsumDense",
            make=lambda tf, d: tf.keras.layers.EinsumDense("abc,cde->abde", (None, 2, 4), bias_axes="de", dtype=d),
            formula=lambda x, kernel, bias: np.einsum("abc,cde->abde", x, kernel) + bias,
            shapes=((2, 3, 3),),
            weights=((3, 2, 4), (2, 4)),
            units=2,
        ),
        recipes={"plain": plain},
        ops="MatMul",
    ),
)
