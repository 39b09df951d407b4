"""Colours of images: hue, saturation, value and contrast. The last axis has the channels."""

import numpy as np

from tf_opdiff.suites.reference.promises.complex_step import along
from tf_opdiff.suites.reference.promises.function import wide


def mean_of_channels(x):
    """The mean of each channel over height and width; 0 without pixels."""
    return np.sum(x, axis=(-3, -2), keepdims=True) / max(1, x.shape[-3] * x.shape[-2])


@wide
def contrasted(x, factor):
    """(x - mean) × factor + mean, with the mean of each channel of an image."""
    mean = mean_of_channels(x)
    return (x - mean) * factor + mean


@wide
def hsv(x):
    """Hue, saturation and value, each in [0, 1]: https://en.wikipedia.org/wiki/HSL_and_HSV."""
    red, green, blue = np.moveaxis(x, -1, 0)
    value, span = np.max(x, axis=-1), np.max(x, axis=-1) - np.min(x, axis=-1)
    safe = np.where(span == 0, 1, span)
    sixth = np.select(
        [span == 0, red == value, green == value],
        [0 * span, np.mod((green - blue) / safe, 6), 2 + (blue - red) / safe],
        4 + (red - green) / safe,
    )
    return np.stack([sixth / 6, np.where(value == 0, 0, span / np.where(value == 0, 1, value)), value], axis=-1)


def hsv_vjp(g, x):
    """The VJP of `hsv` where the channels of a pixel differ.

    The value is the maximum; the saturation is 1 - minimum / maximum; the hue is a sixth of a number, plus the
    difference of the two channels that follow the largest one, over maximum - minimum.
    """
    one = np.eye(3)
    largest, smallest = np.argmax(x, axis=-1), np.argmin(x, axis=-1)
    top, bottom = np.max(x, axis=-1, keepdims=True), np.min(x, axis=-1, keepdims=True)
    follow = one[(largest + 1) % 3] - one[(largest + 2) % 3]
    difference, span = np.sum(follow * x, axis=-1, keepdims=True), top - bottom
    hue = (follow / span - difference / span**2 * (one[largest] - one[smallest])) / 6
    saturation = bottom / top**2 * one[largest] - one[smallest] / top
    return g[..., :1] * hue + g[..., 1:2] * saturation + g[..., 2:] * one[largest]


def hsv_jvp(t, x):
    """The JVP of `hsv`, from the gradient of each channel, where the channels of a pixel differ."""
    return np.stack([np.sum(hsv_vjp(one, x) * t, axis=-1) for one in np.eye(3)], axis=-1)


def hsv_hvp(g, t, x):
    """The derivative of `hsv_vjp` along a tangent."""
    return along(lambda moved: hsv_vjp(g, moved), (x,), (t,))[0]


@wide
def rgb(x):
    """The colours of hues, saturations and values."""
    hue, saturation, value = np.moveaxis(x, -1, 0)
    steps = np.stack([np.abs(6 * hue - 3) - 1, 2 - np.abs(6 * hue - 2), 2 - np.abs(6 * hue - 4)], axis=-1)
    return (1 + (np.clip(steps, 0, 1) - 1) * saturation[..., None]) * value[..., None]


@wide
def turned(x, delta):
    """The colours whose hue is turned by a part of the circle."""
    h = hsv(x)
    return rgb(np.concatenate([np.mod(h[..., :1] + delta, 1), h[..., 1:]], axis=-1))


@wide
def saturated(x, scale):
    """The colours whose saturation is scaled, up to 1."""
    h = hsv(x)
    return rgb(np.concatenate([h[..., :1], np.clip(h[..., 1:2] * scale, 0, 1), h[..., 2:]], axis=-1))
