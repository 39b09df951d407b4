"""Pooling layers: https://keras.io/api/layers/pooling_layers/."""

from functools import partial

import numpy as np

from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.reference.neural_networks.geometry import extents


def _windows(size, window, stride, padding):
    """The first place of each window and the place after its last, without padding."""
    count, before = extents(size, window, stride, padding)
    starts = [i * stride - before for i in range(count)]
    return [(max(start, 0), min(start + window, size)) for start in starts]


def _adaptive(size, count):
    """`count` windows that cover the places: from the floor of i n / count to the ceiling of (i + 1) n / count."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _pooled(reduction, windows, x):
    """The reduction of each window; `windows` has a function of the size of each dimension."""
    for axis, along in enumerate(windows, 1):
        x = np.stack([reduction(x.take(range(*window), axis), axis) for window in along(x.shape[axis])], axis)
    return x


def _each(window, stride, padding="VALID"):
    return partial(_windows, window=window, stride=stride, padding=padding)


def _to(count):
    return partial(_adaptive, count=count)


def _image(rank):
    return ((*(2, 6, 5, 4)[: rank + 1], 2),)


def _most(name, rank, make, *windows):
    return Layer(name=name, make=make, formula=partial(_pooled, np.max, windows), shapes=_image(rank))


def _mean(name, rank, make, *windows):
    """A mean over windows; a mean of means is the mean, because the windows of one dimension are all as long inside."""
    return Layer(name=name, make=make, formula=partial(_pooled, np.mean, windows), shapes=_image(rank), units=3)


def _global(name, rank, make, reduction, units, **more):
    axes = tuple(range(1, rank + 1))
    return Layer(name=name, make=make, formula=partial(reduction, axis=axes, **more), shapes=_image(rank), units=units)


SPECS = (
    layers(
        "api-keras-max-pooling",
        _most("MaxPool1D", 1, lambda tf, d: tf.keras.layers.MaxPool1D(3, 2, dtype=d), _each(3, 2)),
        _most(
            "MaxPool2D",
            2,
            lambda tf, d: tf.keras.layers.MaxPool2D((3, 2), padding="same", dtype=d),
            _each(3, 3, "SAME"),
            _each(2, 2, "SAME"),
        ),
        _most("AdaptiveMaxPooling1D", 1, lambda tf, d: tf.keras.layers.AdaptiveMaxPooling1D(4, dtype=d), _to(4)),
        _most(
            "AdaptiveMaxPooling2D",
            2,
            lambda tf, d: tf.keras.layers.AdaptiveMaxPooling2D((4, 3), dtype=d),
            _to(4),
            _to(3),
        ),
        _global("GlobalMaxPool1D", 1, lambda tf, d: tf.keras.layers.GlobalMaxPool1D(dtype=d), np.max, 0),
        _global(
            "GlobalMaxPool2D",
            2,
            lambda tf, d: tf.keras.layers.GlobalMaxPool2D(keepdims=True, dtype=d),
            np.max,
            0,
            keepdims=True,
        ),
        _global("GlobalMaxPool3D", 3, lambda tf, d: tf.keras.layers.GlobalMaxPool3D(dtype=d), np.max, 0),
        recipes={"plain": plain},
        ops="MaxPool;Max",
    ),
    layers(
        "api-keras-average-pooling",
        _mean("AveragePooling1D", 1, lambda tf, d: tf.keras.layers.AveragePooling1D(3, 2, dtype=d), _each(3, 2)),
        _mean(
            "AveragePooling2D",
            2,
            lambda tf, d: tf.keras.layers.AveragePooling2D((3, 2), padding="same", dtype=d),
            _each(3, 3, "SAME"),
            _each(2, 2, "SAME"),
        ),
        _mean(
            "AdaptiveAveragePooling1D",
            1,
            lambda tf, d: tf.keras.layers.AdaptiveAveragePooling1D(4, dtype=d),
            _to(4),
        ),
        _mean(
            "AdaptiveAveragePooling2D",
            2,
            lambda tf, d: tf.keras.layers.AdaptiveAveragePooling2D((4, 3), dtype=d),
            _to(4),
            _to(3),
        ),
        _global("GlobalAveragePooling1D", 1, lambda tf, d: tf.keras.layers.GlobalAveragePooling1D(dtype=d), np.mean, 2),
        _global(
            "GlobalAveragePooling2D",
            2,
            lambda tf, d: tf.keras.layers.GlobalAveragePooling2D(keepdims=True, dtype=d),
            np.mean,
            2,
            keepdims=True,
        ),
        _global("GlobalAveragePooling3D", 3, lambda tf, d: tf.keras.layers.GlobalAveragePooling3D(dtype=d), np.mean, 2),
        recipes={"plain": plain},
        ops="AvgPool;Mean",
    ),
    layers(
        "api-keras-pooling-of-volumes",
        _most(
            "AdaptiveMaxPooling3D",
            3,
            lambda tf, d: tf.keras.layers.AdaptiveMaxPooling3D((4, 3, 2), dtype=d),
            _to(4),
            _to(3),
            _to(2),
        ),
        _mean(
            "AdaptiveAveragePooling3D",
            3,
            lambda tf, d: tf.keras.layers.AdaptiveAveragePooling3D((4, 3, 2), dtype=d),
            _to(4),
            _to(3),
            _to(2),
        ),
        _most(
            "MaxPool3D",
            3,
            lambda tf, d: tf.keras.layers.MaxPool3D(2, 1, dtype=d),
            _each(2, 1),
            _each(2, 1),
            _each(2, 1),
        ),
        _mean(
            "AveragePooling3D",
            3,
            lambda tf, d: tf.keras.layers.AveragePooling3D(2, 1, dtype=d),
            _each(2, 1),
            _each(2, 1),
            _each(2, 1),
        ),
        recipes={"plain": plain},
        ops="MaxPool3D;AvgPool3D",
        dtypes=("float32",),  # MaxPool3D takes no float64, and AvgPool3D has no kernel for it
    ),
)
