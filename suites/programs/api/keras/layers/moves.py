"""Layers that move, repeat and cut elements."""

import numpy as np

from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import plain


def _of_rank(rank, name, make, formula, **more):
    """A layer of images of `rank` dimensions."""
    return Layer(name=f"{name}{rank}D", make=make, formula=formula, shapes=((*(2, 5, 4, 3)[: rank + 1], 2),), **more)


def _padded(*widths):
    return lambda x: np.pad(x, ((0, 0), *widths, (0, 0)))


def _repeated(*times):
    def formula(x):
        for axis, count in enumerate(times, 1):
            x = np.repeat(x, count, axis)
        return x

    return formula


SPECS = (
    layers(
        "api-keras-padding",
        _of_rank(1, "ZeroPadding", lambda tf, d: tf.keras.layers.ZeroPadding1D((2, 1), dtype=d), _padded((2, 1))),
        _of_rank(
            2,
            "ZeroPadding",
            lambda tf, d: tf.keras.layers.ZeroPadding2D(((2, 1), (0, 3)), dtype=d),
            _padded((2, 1), (0, 3)),
        ),
        _of_rank(
            3,
            "ZeroPadding",
            lambda tf, d: tf.keras.layers.ZeroPadding3D((1, 0, 2), dtype=d),
            _padded((1, 1), (0, 0), (2, 2)),
        ),
        _of_rank(1, "Cropping", lambda tf, d: tf.keras.layers.Cropping1D((2, 1), dtype=d), lambda x: x[:, 2:-1]),
        _of_rank(
            2,
            "Cropping",
            lambda tf, d: tf.keras.layers.Cropping2D(((2, 1), (0, 3)), dtype=d),
            lambda x: x[:, 2:-1, :-3],
        ),
        _of_rank(
            3,
            "Cropping",
            lambda tf, d: tf.keras.layers.Cropping3D((1, 0, 1), dtype=d),
            lambda x: x[:, 1:-1, :, 1:-1],
        ),
        recipes={"plain": plain},
        ops="Pad",
    ),
    layers(
        "api-keras-repeating",
        _of_rank(1, "UpSampling", lambda tf, d: tf.keras.layers.UpSampling1D(3, dtype=d), _repeated(3)),
        _of_rank(2, "UpSampling", lambda tf, d: tf.keras.layers.UpSampling2D((2, 3), dtype=d), _repeated(2, 3)),
        _of_rank(3, "UpSampling", lambda tf, d: tf.keras.layers.UpSampling3D((1, 2, 3), dtype=d), _repeated(1, 2, 3)),
        Layer(
            name="RepeatVector",
            make=lambda tf, d: tf.keras.layers.RepeatVector(3, dtype=d),
            formula=lambda x: np.stack([x, x, x], axis=1),
            shapes=((2, 5),),
        ),
        recipes={"plain": plain},
    ),
    layers(
        "api-keras-shapes",
        Layer(
            name="Flatten",
            make=lambda tf, d: tf.keras.layers.Flatten(dtype=d),
            formula=lambda x: x.reshape(2, -1),
            shapes=((2, 3, 4, 2),),
        ),
        Layer(
            name="Flatten",
            label="channels first",
            make=lambda tf, d: tf.keras.layers.Flatten(data_format="channels_first", dtype=d),
            formula=lambda x: np.moveaxis(x, 1, -1).reshape(2, -1),
            shapes=((2, 3, 4, 2),),
        ),
        Layer(
            name="Reshape",
            make=lambda tf, d: tf.keras.layers.Reshape((4, -1), dtype=d),
            formula=lambda x: x.reshape(2, 4, 6),
            shapes=((2, 3, 4, 2),),
        ),
        Layer(
            name="Permute",
            make=lambda tf, d: tf.keras.layers.Permute((3, 1, 2), dtype=d),
            formula=lambda x: np.transpose(x, (0, 3, 1, 2)),
            shapes=((2, 3, 4, 2),),
        ),
        Layer(
            name="Identity",
            make=lambda tf, d: tf.keras.layers.Identity(dtype=d),
            formula=lambda x: x + 0,
            shapes=((2, 3),),
        ),
        Layer(
            name="Concatenate",
            make=lambda tf, d: tf.keras.layers.Concatenate(axis=1, dtype=d),
            formula=lambda *xs: np.concatenate(xs, axis=1),
            shapes=((2, 3, 4), (2, 1, 4), (2, 2, 4)),
        ),
        recipes={"plain": plain},
        ops="Reshape;Transpose;ConcatV2",
    ),
)
