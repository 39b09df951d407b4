"""Random layers: they give their input at inference, and the documented result where nothing is left to chance."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import byte_values, from_one, shares

#: A batch of two images.
_IMAGES = ((2, 4, 6, 3),)


def _unchanged(name, make, shapes=_IMAGES):
    return Layer(name=name, make=make, formula=lambda x: x + 0, shapes=shapes, options={"training": False})


def _gray(x):
    """https://en.wikipedia.org/wiki/Luma_(video), with the weights of TensorFlow, in each channel."""
    return np.broadcast_to(x @ np.array([[0.2989], [0.587], [0.114]]), x.shape)


def _trained(name, make, formula, **more):
    return Layer(name=name, make=make, formula=formula, shapes=_IMAGES, options={"training": True}, **more)


NOISE = (
    _unchanged("Dropout", lambda tf, d: tf.keras.layers.Dropout(0.5, dtype=d)),
    _unchanged("AlphaDropout", lambda tf, d: tf.keras.layers.AlphaDropout(0.5, dtype=d)),
    _unchanged("GaussianDropout", lambda tf, d: tf.keras.layers.GaussianDropout(0.5, dtype=d)),
    _unchanged("GaussianNoise", lambda tf, d: tf.keras.layers.GaussianNoise(0.5, dtype=d)),
    _unchanged("SpatialDropout1D", lambda tf, d: tf.keras.layers.SpatialDropout1D(0.5, dtype=d), ((2, 4, 3),)),
    _unchanged("SpatialDropout2D", lambda tf, d: tf.keras.layers.SpatialDropout2D(0.5, dtype=d)),
    _unchanged("SpatialDropout3D", lambda tf, d: tf.keras.layers.SpatialDropout3D(0.5, dtype=d), ((1, 2, 3, 2, 2),)),
)

MIXTURES = (
    _unchanged("AugMix", lambda tf, d: tf.keras.layers.AugMix((0, 1), dtype=d)),
    _unchanged("CutMix", lambda tf, d: tf.keras.layers.CutMix(dtype=d)),
    _unchanged("MixUp", lambda tf, d: tf.keras.layers.MixUp(dtype=d)),
)

COLORS = (
    _unchanged("RandAugment", lambda tf, d: tf.keras.layers.RandAugment((0, 1), dtype=d)),
    _unchanged("RandomBrightness", lambda tf, d: tf.keras.layers.RandomBrightness(0.5, (0, 1), dtype=d)),
    _unchanged("RandomColorDegeneration", lambda tf, d: tf.keras.layers.RandomColorDegeneration(0.5, (0, 1), dtype=d)),
    _unchanged(
        "RandomColorJitter",
        lambda tf, d: tf.keras.layers.RandomColorJitter((0, 1), brightness_factor=0.5, hue_factor=0.5, dtype=d),
    ),
    _unchanged("RandomContrast", lambda tf, d: tf.keras.layers.RandomContrast(0.5, (0, 1), dtype=d)),
    _unchanged("RandomErasing", lambda tf, d: tf.keras.layers.RandomErasing(dtype=d)),
    _unchanged("RandomGaussianBlur", lambda tf, d: tf.keras.layers.RandomGaussianBlur(dtype=d)),
    _unchanged("RandomGrayscale", lambda tf, d: tf.keras.layers.RandomGrayscale(dtype=d)),
    _unchanged("RandomHue", lambda tf, d: tf.keras.layers.RandomHue(0.5, (0, 1), dtype=d)),
    _unchanged("RandomInvert", lambda tf, d: tf.keras.layers.RandomInvert(dtype=d)),
    _unchanged("RandomPosterization", lambda tf, d: tf.keras.layers.RandomPosterization(3, dtype=d)),
    _unchanged("RandomSaturation", lambda tf, d: tf.keras.layers.RandomSaturation(0.5, (0, 1), dtype=d)),
    _unchanged("RandomSharpness", lambda tf, d: tf.keras.layers.RandomSharpness(0.5, (0, 1), dtype=d)),
    _unchanged("Solarization", lambda tf, d: tf.keras.layers.Solarization(0.5, 0.5, dtype=d)),
)

PLACES = (
    _unchanged("RandomElasticTransform", lambda tf, d: tf.keras.layers.RandomElasticTransform(dtype=d)),
    _unchanged("RandomFlip", lambda tf, d: tf.keras.layers.RandomFlip(dtype=d)),
    _unchanged("RandomHeight", lambda tf, d: tf.keras.layers.RandomHeight(0.5, dtype=d)),
    _unchanged("RandomPerspective", lambda tf, d: tf.keras.layers.RandomPerspective(dtype=d)),
    _unchanged("RandomRotation", lambda tf, d: tf.keras.layers.RandomRotation(0.5, dtype=d)),
    _unchanged("RandomShear", lambda tf, d: tf.keras.layers.RandomShear(0.5, 0.5, dtype=d)),
    _unchanged("RandomTranslation", lambda tf, d: tf.keras.layers.RandomTranslation(0.5, 0.5, dtype=d)),
    _unchanged("RandomWidth", lambda tf, d: tf.keras.layers.RandomWidth(0.5, dtype=d)),
    _unchanged("RandomZoom", lambda tf, d: tf.keras.layers.RandomZoom(0.5, dtype=d)),
    Layer(
        name="RandomCrop",
        make=lambda tf, d: tf.keras.layers.RandomCrop(4, 6, dtype=d),
        formula=lambda x: x + 0,
        shapes=_IMAGES,
        options={"training": True},  # a crop of the whole image leaves no choice
    ),
)

SPECS = (
    layers("api-keras-noise-at-inference", *NOISE, recipes={"plain": from_one}),
    layers(
        "api-keras-random-mixtures-at-inference",
        *MIXTURES,
        recipes={"plain": shares},
        modes=WITHOUT_XLA,  # they draw from a gamma distribution, which XLA can't, and do not use it
    ),
    layers("api-keras-random-colors-at-inference", *COLORS, recipes={"plain": shares}),
    layers("api-keras-random-places-at-inference", *PLACES, recipes={"plain": shares}),
    layers(
        "api-keras-random-colors",
        _trained(
            "RandomBrightness",
            lambda tf, d: tf.keras.layers.RandomBrightness((0.25, 0.25), (0, 1), dtype=d),
            lambda x: np.clip(x + 0.25, 0, 1),
            units=2,
        ),
        _trained(
            "RandomColorDegeneration",
            lambda tf, d: tf.keras.layers.RandomColorDegeneration((0.25, 0.25), (0, 1), dtype=d),
            lambda x: x + 0.25 * (_gray(x) - x),
            units=6,
        ),
        _trained(
            "RandomGrayscale",
            lambda tf, d: tf.keras.layers.RandomGrayscale(1.0, dtype=d),
            _gray,
            units=4,
        ),
        _trained(
            "RandomInvert",
            lambda tf, d: tf.keras.layers.RandomInvert((1.0, 1.0), (0, 1), dtype=d),
            lambda x: 1 - x,
            units=1,
        ),
        _trained(
            "Solarization",
            lambda tf, d: tf.keras.layers.Solarization(value_range=(0, 1), dtype=d),
            lambda x: 1 - x,
            units=3,
        ),
        recipes={"plain": shares},
        gradient=False,
    ),
    layers(
        "api-keras-solarization",
        _trained(
            "Solarization",
            lambda tf, d: tf.keras.layers.Solarization((0.25, 0.25), value_range=(0, 1), seed=1, dtype=d),
            lambda x: 1 - np.minimum(x + 0.25, 1),
            units=6,
        ),
        recipes={"plain": shares},
        gradient=False,
    ),
    layers(
        "api-keras-random-places",
        _trained(
            "RandomFlip",
            lambda tf, d: tf.keras.layers.RandomFlip("horizontal", seed=1, dtype=d),
            lambda x: x + x[:, :, ::-1],
            call=lambda layer, x, training: (y := layer(x, training=training)) + y[:, :, ::-1],
            built=1,
            units=1,
        ),
        _trained(
            "RandomPosterization",
            lambda tf, d: tf.keras.layers.RandomPosterization((3, 3), dtype=d),
            lambda x: 32 * np.floor(x.real / 32),
        ),
        recipes={"plain": byte_values},
        gradient=False,
    ),
    layers(
        "api-keras-random-translation",
        _trained(
            "RandomTranslation",
            lambda tf, d: tf.keras.layers.RandomTranslation(
                (0.5, 0.5), (0.0, 0.0), fill_mode="constant", interpolation="nearest", fill_value=7.0, dtype=d
            ),
            lambda x: np.concatenate([np.full_like(x[:, :2], 7), x[:, :2]], axis=1),
        ),
        recipes={"plain": byte_values},
        gradient=False,
        modes=WITHOUT_XLA,  # XLA has no kernel of ImageProjectiveTransformV3
    ),
)
