"""Layers of weights: dense layers and embeddings: https://keras.io/api/layers/core_layers/."""

import numpy as np

from tf_opdiff.harness.spec.spec import Sparse
from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import below, plain
from tf_opdiff.suites.reference.promises.promise import Promise


class _Rows(Promise):
    """The rows of a matrix at indices; the gradient is sparse."""

    def f(self, indices, rows):
        return rows[indices]

    def vjp(self, g, indices, rows):
        return None, Sparse(np.asarray(g).reshape(-1, rows.shape[1]), indices.ravel(), rows.shape)


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
        tier="default",
        full_dtypes=("float64",),
    ),
    layers(
        "api-keras-embedding",
        Layer(
            name="Embedding",
            make=lambda tf, d: tf.keras.layers.Embedding(5, 3, dtype=d),
            promised=_Rows(),
            shapes=((2, 4),),
            weights=((5, 3),),
        ),
        Layer(
            name="ReversibleEmbedding",
            make=lambda tf, d: tf.keras.layers.ReversibleEmbedding(5, 3, dtype=d),
            promised=_Rows(),
            shapes=((2, 4),),
            weights=((5, 3),),
        ),
        recipes={"plain": (below(5), plain)},
    ),
    layers(
        "api-keras-reversed-embedding",
        Layer(
            name="ReversibleEmbedding",
            make=lambda tf, d: tf.keras.layers.ReversibleEmbedding(5, 3, logit_soft_cap=2.0, dtype=d),
            call=lambda layer, x: layer(x, reverse=True),
            formula=lambda x, rows: 2 * np.tanh(x @ rows.T / 2),
            shapes=((2, 3),),
            weights=((5, 3),),
            units=24,
        ),
        recipes={"plain": lambda draw, dtype, *shape: draw.uniform(*shape).astype(dtype)},
        ops="Tanh",
    ),
)
