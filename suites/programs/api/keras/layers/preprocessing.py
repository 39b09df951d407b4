"""Preprocessing layers: https://keras.io/api/layers/preprocessing_layers/."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import below, byte_values, plain

_IMAGES = ((2, 5, 4, 3),)


def _stretched(x):
    """The numbers of each channel, stretched to the range from 0 to 255."""
    low, high = (end(x, axis=(1, 2), keepdims=True) for end in (np.min, np.max))
    return (x - low) * 255 / (high - low)


def _equalized(x):
    """The histogram of each channel, equalized: https://en.wikipedia.org/wiki/Histogram_equalization."""
    out = np.empty_like(x)
    for channel in range(x.shape[-1]):
        levels = x[..., channel].astype(int)
        below = np.cumsum(np.bincount(levels.ravel(), minlength=256))
        first = below[below > 0][0]
        out[..., channel] = np.round((below - first) * 255 / (below[-1] - first))[levels]
    return out


def _equalized_smoothly(x):
    """As `_equalized`, with fractions; every channel has a 0."""
    out = np.empty_like(x)
    for image in range(x.shape[0]):
        for channel in range(x.shape[-1]):
            levels = x[image, ..., channel].real.astype(int)
            below = np.cumsum(np.bincount(levels.ravel(), minlength=256))
            out[image, ..., channel] = ((below - below[0]) * 255 / (below[-1] - below[0]))[levels]
    return out


def _with_black(draw, dtype, *shape):
    x = byte_values(draw, dtype, *shape)
    x[:, 0, 0] = 0
    return x


def _bins(x):
    return np.searchsorted([-1.0, 0.0, 2.5], x, side="right").astype(np.int32)


def _one_hot(x, count):
    return np.eye(count)[x]


SPECS = (
    layers(
        "api-keras-images",
        Layer(
            name="Rescaling",
            make=lambda tf, d: tf.keras.layers.Rescaling(0.375, -2.0, dtype=d),
            formula=lambda x: 0.375 * x - 2,
            shapes=((3, 4),),
            units=2,
        ),
        Layer(
            name="CenterCrop",
            make=lambda tf, d: tf.keras.layers.CenterCrop(3, 2, dtype=d),
            formula=lambda x: x[:, 1:4, 1:3],
            shapes=_IMAGES,
        ),
        Layer(
            name="Masking",
            make=lambda tf, d: tf.keras.layers.Masking(0.0, dtype=d),
            formula=lambda x: np.where(np.any(x != 0, axis=-1, keepdims=True), x, 0),
            shapes=((2, 3, 2),),
        ),
        Layer(
            name="ActivityRegularization",
            make=lambda tf, d: tf.keras.layers.ActivityRegularization(0.5, dtype=d),
            formula=lambda x: x + 0,
            shapes=((2, 3),),
        ),
        Layer(
            name="Pipeline",
            make=lambda tf, d: tf.keras.layers.Pipeline(
                [tf.keras.layers.Rescaling(2.0, dtype=d), tf.keras.layers.CenterCrop(3, 2, dtype=d)]
            ),
            formula=lambda x: 2 * x[:, 1:4, 1:3],
            shapes=_IMAGES,
        ),
        recipes={"plain": plain},
        ops="Mul",
    ),
    layers(
        "api-keras-resizing",
        Layer(
            name="Resizing",
            make=lambda tf, d: tf.keras.layers.Resizing(10, 8, interpolation="nearest", dtype=d),
            formula=lambda x: np.repeat(np.repeat(x, 2, axis=1), 2, axis=2),
            shapes=_IMAGES,
        ),
        recipes={"plain": plain},
        gradient=False,  # XLA has no kernel of the gradient
    ),
    *calls(
        "api-keras-auto-contrast",
        Call(
            name="keras.layers.AutoContrast",
            program=lambda tf, x: tf.keras.layers.AutoContrast(dtype=x.dtype.name)(x),
            reference=_stretched,
            error=lambda u, x: 16 * u * 255 * np.max(np.abs(x)) / np.ptp(x, axis=(1, 2), keepdims=True),
        ),
        recipes={"plain": lambda draw, dtype: (byte_values(draw, dtype, *_IMAGES[0]),)},
        dtypes=("float32", "float64"),
        tier="full",
    ),
    layers(
        "api-keras-equalization",
        Layer(
            name="Equalization",
            make=lambda tf, d: tf.keras.layers.Equalization(dtype=d),
            formula=_equalized,
            shapes=_IMAGES,
        ),
        recipes={"plain": byte_values},
        gradient=False,
    ),
    layers(
        "api-keras-limited-equalization",
        Layer(
            name="ContrastLimitedAdaptiveHistogramEqualization",
            make=lambda tf, d: tf.keras.layers.ContrastLimitedAdaptiveHistogramEqualization(
                clip_limit=256.0, tile_grid_size=(1, 1), dtype=d
            ),
            formula=_equalized_smoothly,
            shapes=_IMAGES,
            units=8,
        ),
        recipes={"plain": _with_black},
        gradient=False,
        dtypes=("float32",),
    ),
    layers(
        "api-keras-bins",
        Layer(
            name="Discretization",
            make=lambda tf, d: tf.keras.layers.Discretization([-1.0, 0.0, 2.5]),
            formula=_bins,
            shapes=((3, 5),),
        ),
        recipes={"plain": plain},
        gradient=False,
    ),
    layers(
        "api-keras-categories",
        Layer(
            name="CategoryEncoding",
            label="one-hot",
            make=lambda tf, d: tf.keras.layers.CategoryEncoding(4, "one_hot"),
            formula=lambda x: _one_hot(x, 4).astype(np.float32),
            shapes=((3, 5),),
        ),
        Layer(
            name="CategoryEncoding",
            label="multi-hot",
            make=lambda tf, d: tf.keras.layers.CategoryEncoding(4, "multi_hot"),
            formula=lambda x: np.max(_one_hot(x, 4), axis=1).astype(np.float32),
            shapes=((3, 5),),
        ),
        Layer(
            name="CategoryEncoding",
            label="count",
            make=lambda tf, d: tf.keras.layers.CategoryEncoding(4, "count"),
            formula=lambda x: np.sum(_one_hot(x, 4), axis=1).astype(np.float32),
            shapes=((3, 5),),
        ),
        recipes={"plain": below(4)},
        gradient=False,
        dtypes=("float32",),
    ),
)
