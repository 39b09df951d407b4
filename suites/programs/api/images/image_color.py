"""Colours and contrast of images: https://www.tensorflow.org/api_docs/python/tf/image."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.reference.images import color as ref
from tf_opdiff.suites.reference.promises.function import wide

#: Height, width, channels.
_SHAPE = (5, 7, 3)
#: As in the documentation of rgb_to_grayscale: https://en.wikipedia.org/wiki/Luma_(video), to four digits.
_GRAY = np.array([[0.2989], [0.5870], [0.1140]])
#: NTSC, as in https://github.com/scikit-image/scikit-image/blob/v0.25.0/skimage/color/colorconv.py
YIQ = np.array([[0.299, 0.59590059, 0.21153661], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]])
YUV = np.array([[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]])


def _image(draw, dtype):
    """Colours in [0, 1)."""
    return (draw.uniform(*_SHAPE, low=0, high=1).astype(dtype),)


def _flat(draw, dtype):
    """Grey pixels, black and white ones, and pixels with equal channels."""
    levels = np.resize([0.0, 1.0, 0.5, 0.25, 0.75], (*_SHAPE[:2], 1)) * np.ones(3)
    levels[0, :, 0], levels[1, :, 1], levels[2, :, 2] = 0, 1, 0.5
    return (levels.astype(dtype),)


def _equal(draw, dtype):
    """One level in the whole image."""
    return (np.full(_SHAPE, 0.5, dtype),)


def _beyond(draw, dtype):
    """Levels outside of [0, 1), as after an adjustment, NaN and infinities."""
    x = draw.uniform(*_SHAPE) * 300
    x[0, 0], x[0, 1, 1], x[0, 2, 0] = np.nan, np.inf, -np.inf
    return (x.astype(dtype),)


def _linear(name, program, matrix):
    """A colour space by its matrix."""

    @wide
    def reference(x):
        return np.sum(x[..., :, None] * matrix, axis=-2)

    @wide
    def size(x):
        return np.sum(np.abs(x[..., :, None] * matrix), axis=-2)

    return Call(
        name=name,
        program=program,
        reference=reference,
        vjp=lambda g, x: np.sum(g[..., None, :] * matrix, axis=-1),
        error=lambda u, x: 6 * u * size(x),
        grad_error=lambda u, g, x: 6 * u * np.sum(np.abs(g[..., None, :] * matrix), axis=-1),
        signed=False,
    )


@wide
def _standardized(x):
    """(x - mean) / max(standard deviation, 1 / √N): at least 1 / √N, so that equal pixels give 0."""
    return (x - np.mean(x)) / np.maximum(np.std(x), 1 / np.sqrt(np.longdouble(x.size)))


def _standardized_vjp(g, x):
    y, n, spread = _standardized(x), x.size, np.std(x)
    along = y * np.mean(g * y) if spread > n**-0.5 else 0
    return (g - np.mean(g) - along) / max(spread, n**-0.5)


def _standardized_grad_error(u, g, x):
    return (
        4
        * x.size
        * u
        * (np.abs(g) + np.mean(np.abs(g)) * (1 + np.abs(_standardized(x))))
        / max(np.std(x), x.size**-0.5)
    )


@wide
def _variation(x):
    """The sum of the absolute differences of neighbouring pixels."""
    return np.sum(np.abs(x[1:] - x[:-1])) + np.sum(np.abs(x[:, 1:] - x[:, :-1]))


def _variation_vjp(g, x):
    down, right = np.sign(x[1:] - x[:-1]), np.sign(x[:, 1:] - x[:, :-1])
    slope = np.zeros(x.shape)
    slope[1:] += down
    slope[:-1] -= down
    slope[:, 1:] += right
    slope[:, :-1] -= right
    return g * slope


def _colour_error(u, x):
    return 30 * u * np.max(np.abs(x), axis=-1, keepdims=True)


SPECS = (
    *calls(
        "api-image-linear",
        _linear("image.rgb_to_grayscale", lambda tf, x: tf.image.rgb_to_grayscale(x), _GRAY),
        _linear("image.rgb_to_yiq", lambda tf, x: tf.image.rgb_to_yiq(x), YIQ),
        _linear("image.rgb_to_yuv", lambda tf, x: tf.image.rgb_to_yuv(x), YUV),
        Call(
            name="image.adjust_brightness",
            program=lambda tf, x: tf.image.adjust_brightness(x, 0.25),
            reference=lambda x: x + 0.25,
            vjp=lambda g, x: g,
            ulp=0.5,
            signed=False,
        ),
        recipes={"plain": _image, "flat": _flat, "beyond": _beyond},
        ops="MatMul",
    ),
    *calls(
        "api-image-contrast",
        Call(
            name="image.adjust_contrast",
            program=lambda tf, x: tf.image.adjust_contrast(x, 1.5),
            reference=lambda x: ref.contrasted(x, np.array(1.5)),
            vjp=lambda g, x: 1.5 * g - 0.5 * ref.mean_of_channels(g),
            error=lambda u, x: 4 * u * (np.abs(x) + 8 * np.mean(np.abs(x), axis=(0, 1), keepdims=True)),
            grad_error=lambda u, g, x: 4 * u * (np.abs(g) + 8 * np.mean(np.abs(g), axis=(0, 1), keepdims=True)),
            signed=False,
        ),
        recipes={"plain": _image, "flat": _flat, "beyond": _beyond},
        ops="AdjustContrastv2",
    ),
    *calls(
        "api-image-statistics",
        Call(
            name="image.adjust_gamma",
            program=lambda tf, x: tf.image.adjust_gamma(x, gamma=2.5, gain=0.75),
            reference=wide(lambda x: 0.75 * x**2.5),
            vjp=lambda g, x: wide(lambda g, x: g * 0.75 * 2.5 * x**1.5)(g, x),
            error=lambda u, x: 8 * u * np.abs(x) ** 2.5,
            grad_error=lambda u, g, x: 16 * u * np.abs(g) * np.abs(x) ** 1.5,
        ),
        Call(
            name="image.per_image_standardization",
            program=lambda tf, x: tf.image.per_image_standardization(x),
            reference=_standardized,
            vjp=_standardized_vjp,
            error=lambda u, x: 20 * u * (np.abs(_standardized(x)) + np.mean(np.abs(x)) / max(np.std(x), x.size**-0.5)),
            grad_error=_standardized_grad_error,
            signed=False,
        ),
        Call(
            name="image.total_variation",
            program=lambda tf, x: tf.image.total_variation(x),
            reference=_variation,
            vjp=_variation_vjp,
            error=lambda u, x: x.size * u * _variation(x),
            grad_error=lambda u, g, x: 4 * u * np.abs(g) * np.ones(x.shape),
        ),
        recipes={"plain": _image, "flat": _flat, "equal": _equal},
        ops="Pow;Abs;Mean",
    ),
    *calls(
        "api-image-hue",
        Call(
            name="image.rgb_to_hsv",
            program=lambda tf, x: tf.image.rgb_to_hsv(x),
            reference=ref.hsv,
            error=lambda u, x: 8 * u * np.ones(x.shape),
            signed=False,
        ),
        Call(
            name="image.hsv_to_rgb",
            program=lambda tf, x: tf.image.hsv_to_rgb(x),
            reference=ref.rgb,
            error=lambda u, x: 30 * u * np.ones(x.shape),
            signed=False,
        ),
        Call(
            name="image.adjust_hue",
            program=lambda tf, x: tf.image.adjust_hue(x, 0.1),
            reference=lambda x: ref.turned(x, np.array(0.1)),
            error=_colour_error,
            signed=False,
        ),
        Call(
            name="image.adjust_saturation",
            program=lambda tf, x: tf.image.adjust_saturation(x, 1.5),
            reference=lambda x: ref.saturated(x, np.array(1.5)),
            error=_colour_error,
            signed=False,
        ),
        recipes={"plain": _image, "flat": _flat},
        ops="RGBToHSV;HSVToRGB;AdjustHue;AdjustSaturation",
    ),
)
