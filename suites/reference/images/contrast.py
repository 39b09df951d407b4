"""Contrast: the distance of each pixel from the mean of its image, times a factor. Results are in float32."""

from __future__ import annotations

import numpy as np

from tf_opdiff.suites.reference.images.color import mean_of_channels
from tf_opdiff.suites.reference.promises.accumulation import FLOAT32, gamma
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.reductions.reduction import long


class Contrast(Promise):
    """(x - mean) factor + mean within two limits; each channel of each image has its own mean.

    Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops/AdjustContrast
    """

    def f(self, x: np.ndarray, factor: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        mean = mean_of_channels(long(x))
        return np.clip((long(x) - mean) * factor + mean, low, high).astype(np.float32)

    def error(self, u: float, x: np.ndarray, factor: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The error of the mean, and four roundings; limits make no error larger."""
        sizes = np.abs(np.asarray(x, np.float64))
        of_mean = gamma(x.shape[-3] * x.shape[-2], FLOAT32) * mean_of_channels(sizes)
        return np.asarray(
            (1 + np.abs(factor)) * (of_mean + 4 * FLOAT32 * (sizes + mean_of_channels(sizes))), np.float64
        )
