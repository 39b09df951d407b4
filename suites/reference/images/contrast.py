"""Contrast: the distance of each pixel from the mean of its image, times a factor. Results are in float32."""

from __future__ import annotations

import numpy as np

from tf_opdiff.suites.reference.images.color import contrasted, mean_of_channels
from tf_opdiff.suites.reference.promises.accumulation import FLOAT32, gamma
from tf_opdiff.suites.reference.promises.promise import Promise


class Contrast(Promise):
    """(x - mean) factor + mean within two limits; each channel of each image has its own mean.

    Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops/AdjustContrast
    """

    def f(self, x: np.ndarray, factor: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        return np.clip(contrasted(x, factor), low, high).astype(np.float32)

    def error(self, u: float, x: np.ndarray, factor: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The error of the mean, and four roundings, as far as the limits let it through."""
        exact, sizes = contrasted(x, factor), np.abs(np.asarray(x, np.float64))
        of_mean = gamma(x.shape[-3] * x.shape[-2], FLOAT32) * mean_of_channels(sizes)
        error = (1 + np.abs(factor)) * (of_mean + 4 * FLOAT32 * (sizes + mean_of_channels(sizes)))
        ends = [np.abs(np.clip(exact + way * error, low, high) - np.clip(exact, low, high)) for way in (-1, 1)]
        return np.asarray(np.maximum(*ends), np.float64)
