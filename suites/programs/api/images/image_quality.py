"""Measures of how far two images differ: https://www.tensorflow.org/api_docs/python/tf/image/psnr and ssim."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.reference.promises.function import wide

_SHAPE = (13, 12, 2)
_LOG = 10 / np.log(np.longdouble(10))


def _images(draw, dtype):
    """Two images that differ a little."""
    a = draw.uniform(*_SHAPE, low=0, high=1)
    return a.astype(dtype), np.clip(a + draw.uniform(*_SHAPE) / 8, 0, 1).astype(dtype)


def _far(draw, dtype):
    """Two unrelated images."""
    return draw.uniform(*_SHAPE, low=0, high=1).astype(dtype), draw.uniform(*_SHAPE, low=0, high=1).astype(dtype)


def _levels(draw, dtype):
    """Two images of whole levels."""
    a = draw.integers(*_SHAPE, low=0, high=200)
    return a.astype(dtype), (a + draw.integers(*_SHAPE, low=0, high=50)).astype(dtype)


def _same(draw, dtype):
    """Twice the same image."""
    a = draw.values(dtype, *_SHAPE) if np.dtype(dtype).kind == "f" else draw.integers(*_SHAPE, low=0, high=256)
    return a.astype(dtype), a.astype(dtype)


def _noise(top):
    """20 log10(MAX) - 10 log10(mean squared error); infinite for equal images."""

    @wide
    def psnr(a, b):
        error = np.mean((a - b) ** 2)
        return np.asarray(np.inf) if error == 0 else _LOG * np.log(np.longdouble(top) ** 2 / error)

    return psnr


def _noise_vjp(g, a, b):
    slope = -_LOG * 2 * (a - b) / np.sum((a - b) ** 2)
    return g * slope, -g * slope


def _noise_grad_error(u, g, a, b):
    error = (a.size + 10) * u * np.abs(_noise_vjp(g, a, b)[0])
    return error, error


def _window():
    """The weights of 11 × 11 pixels: a normal density with a standard deviation of 1.5."""
    weights = np.exp(-(np.arange(-5, 6).astype(np.longdouble) ** 2) / (2 * np.longdouble(1.5) ** 2))
    window = weights[:, None] * weights
    return window / np.sum(window)


@wide
def _local(x):
    """The weighted mean of every window that fits into the image."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (11, 11), axis=(0, 1))
    return np.sum(windows * _window(), axis=(-2, -1))


def _parts(a, b):
    """Numerator and denominator of the luminance, and of contrast and structure, for MAX = 1."""
    first, second = np.longdouble("0.01") ** 2, np.longdouble("0.03") ** 2
    product, squares = 2 * _local(a) * _local(b), _local(a) ** 2 + _local(b) ** 2
    across, spread = 2 * _local(a * b) - product, _local(a * a + b * b) - squares
    return product + first, squares + first, across + second, spread + second


@wide
def _similarity(a, b):
    """https://ece.uwaterloo.ca/~z70wang/publications/ssim.pdf, as a mean over windows and channels."""
    product, squares, across, spread = _parts(a, b)
    return np.asarray(np.mean(product / squares * across / spread))


def _similarity_error(u, a, b):
    """The variances are differences of means of squares, which are off by a few hundred u of those."""
    spread = _parts(a, b)[3]
    return np.mean(300 * u * (1 + (_local(a * a + b * b) + 1) / spread))


@wide
def _scales(a, b):
    """The product of the contrast of the images and of the similarity of those half as large, each to a power.

    https://www.tensorflow.org/api_docs/python/tf/image/ssim_multiscale
    """
    _, _, across, spread = _parts(a, b)
    halves = (x.reshape(x.shape[0] // 2, 2, x.shape[1] // 2, 2, -1).mean((1, 3)) for x in (a, b))
    product, squares, far_across, far_spread = _parts(*halves)
    contrast = np.mean(across / spread, axis=(0, 1))
    similarity = np.mean(product / squares * far_across / far_spread, axis=(0, 1))
    return np.asarray(np.mean(contrast ** np.longdouble("0.25") * similarity ** np.longdouble("0.75")))


def _large(draw, dtype):
    """Two images that differ a little, and that hold a window when they are half as large."""
    a = draw.uniform(24, 22, 2, low=0, high=1)
    return a.astype(dtype), np.clip(a + draw.uniform(24, 22, 2) / 8, 0, 1).astype(dtype)


SPECS = (
    *calls(
        "api-image-noise",
        Call(
            name="image.psnr",
            program=lambda tf, a, b: tf.image.psnr(a, b, max_val=1.0),
            reference=_noise(1),
            vjp=_noise_vjp,
            error=lambda u, a, b: u * (_LOG * (a.size + 10) + 8 * np.abs(_noise(1)(a, b))),
            grad_error=_noise_grad_error,
        ),
        arguments=2,
        recipes={"near": _images, "far": _far},
        ops="SquaredDifference;Log",
    ),
    *calls(
        "api-image-noise-levels",
        Call(
            name="image.psnr",
            program=lambda tf, a, b: tf.image.psnr(a, b, max_val=255),
            reference=lambda a, b: np.asarray(_noise(255)(a, b)).astype(np.float32),
            ulp=64,
        ),
        arguments=2,
        recipes={"levels": _levels, "same": _same},
        ops="SquaredDifference;Log",
        dtypes=("uint8",),
    ),
    *calls(
        "api-image-similarity",
        Call(
            name="image.ssim",
            program=lambda tf, a, b: tf.image.ssim(a, b, max_val=1.0),
            reference=_similarity,
            error=_similarity_error,
        ),
        arguments=2,
        recipes={"near": _images, "far": _far},
        ops="DepthwiseConv2dNative",
    ),
    *calls(
        "api-image-scales",
        Call(
            name="image.ssim_multiscale",
            program=lambda tf, a, b: tf.image.ssim_multiscale(a, b, max_val=1.0, power_factors=(0.25, 0.75)),
            reference=_scales,
            error=lambda u, a, b: 8 * _similarity_error(u, a, b),
        ),
        arguments=2,
        recipes={"large": _large},
        ops="DepthwiseConv2dNative;AvgPool",
    ),
)
