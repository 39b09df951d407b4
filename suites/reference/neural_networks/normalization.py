"""Normalisation over a batch: each channel minus its mean, divided by its standard deviation; and its gradients.

Source of the gradients: S. Ioffe, C. Szegedy, Batch Normalization, section 3, https://arxiv.org/abs/1502.03167
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Normalization:
    """A normalisation of a tensor of rank 4.

    is_training             whether the mean and the variance are those of the batch, and not the given ones.
    epsilon                 the number that is added to the variance.
    exponential_avg_factor  the share of the batch in the new running mean and variance.
    data_format             `NCHW` if channels are along axis 1.
    """

    is_training: bool
    epsilon: float = 0.125
    exponential_avg_factor: float = 1.0
    data_format: str = "NHWC"

    @property
    def first(self) -> bool:
        """Whether channels are along axis 1."""
        return self.data_format == "NCHW"

    @property
    def axes(self) -> tuple[int, ...]:
        """All axes but that of the channels."""
        return (0, 2, 3) if self.first else (0, 1, 2)

    def f(self, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
        """The normalised tensor."""
        centered, deviation = self._centered(x, mean, variance)
        return centered / deviation * self._spread(scale) + self._spread(offset)

    def statistics(self, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> tuple[Any, Any]:
        """The mean and the variance of the batch, unbiased, mixed with the given ones; of one number for each channel.

        Without training, the given ones.
        """
        if not self.is_training:
            return mean, variance
        own = np.mean(x, axis=self.axes, keepdims=True)
        centered = x - own
        terms = x.size // max(x.shape[1 if self.first else 3], 1)
        unbiased = np.sum(centered * centered, axis=self.axes) / max(terms - 1, 1)
        if self.exponential_avg_factor == 1:
            return own.reshape(-1), unbiased
        old = 1 - self.exponential_avg_factor
        return mean * old + own.reshape(
            -1
        ) * self.exponential_avg_factor, variance * old + unbiased * self.exponential_avg_factor

    def gradients(self, g: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> tuple[Any, Any, Any]:
        """The gradients by the tensor, the scale and the offset; the statistics of a batch are functions of it."""
        if self.is_training:
            mean = np.mean(x, axis=self.axes, keepdims=True).reshape(-1)
            centered = x - self._spread(mean)
            variance = np.mean(centered * centered, axis=self.axes)
        return self.backward(g, x, scale, mean, variance)

    def backward(self, g: Any, x: Any, scale: Any, mean: Any, variance: Any) -> tuple[Any, Any, Any]:
        """The gradients, from the mean and the variance that the forward op returned."""
        centered = x - self._spread(mean)
        deviation = np.sqrt(self._spread(variance) + self.epsilon)
        by_scale = np.sum(g * (centered / deviation), axis=self.axes)
        by_offset = np.sum(g, axis=self.axes)
        own = g
        if self.is_training:
            shared = np.mean(g, axis=self.axes, keepdims=True)
            along = np.mean(g * centered, axis=self.axes, keepdims=True) / (deviation * deviation)
            own = g - shared - centered * along
        return own * (self._spread(scale) / deviation), by_scale, by_offset

    def curved(self, g: Any, x: Any, scale: Any, mean: Any, variance: Any, *tangents: Any) -> tuple[Any, Any, Any]:
        """The derivatives of Σ t g', where g' are the three results of `gradients`, by g, the tensor and the scale.

        That by g is the derivative of the normalised tensor along the tangents, of the tensor, scale and offset.
        The given mean and variance are constants.
        """
        along, by_scale, by_offset = tangents[0], *map(self._spread, tangents[1:])
        centered, deviation = self._centered(x, mean, variance)
        scale = self._spread(scale)
        if not self.is_training:
            by_g = along * scale / deviation + by_scale * (centered / deviation) + by_offset
            return by_g, by_scale * g / deviation, np.sum(along * g / deviation, axis=self.axes)
        g_off, along_off = (t - np.mean(t, axis=self.axes, keepdims=True) for t in (g, along))
        a, b, shared = (
            np.mean(t, axis=self.axes, keepdims=True) for t in (g * centered, along * centered, along_off * g)
        )
        square = deviation * deviation
        by_g = (
            (along_off - centered * (b / square)) * (scale / deviation) + by_scale * (centered / deviation) + by_offset
        )
        of_centered = scale * (3 * a * b / square - shared) - by_scale * a
        of_rest = by_scale * g_off - scale * ((b * g_off + a * along_off) / square)
        by_x = centered * of_centered / (square * deviation) + of_rest / deviation
        terms = x.size // max(scale.size, 1)
        return by_g, by_x, ((shared - a * b / square) / deviation * terms).reshape(-1)

    def _centered(self, x: Any, mean: Any, variance: Any) -> tuple[Any, Any]:
        """The tensor minus its mean, and the standard deviation."""
        if not self.is_training:
            return x - self._spread(mean), np.sqrt(self._spread(variance) + self.epsilon)
        centered = x - np.mean(x, axis=self.axes, keepdims=True)
        return centered, np.sqrt(np.mean(centered * centered, axis=self.axes, keepdims=True) + self.epsilon)

    def _spread(self, values: Any) -> Any:
        """One number for each channel, in a shape that is broadcast along the other axes."""
        return values.reshape(-1, 1, 1) if self.first else values
