"""Recipes of normalisations: a tensor whose channels are last, and a scale, an offset, a mean and a variance."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw

Shape = tuple[int, ...]
Numbers = Callable[[Draw, Shape], list[np.ndarray]]


def plain(draw: Draw, shape: Shape) -> list[np.ndarray]:
    """A tensor, and a scale, an offset, a mean and a variance for each channel, of moderate size."""
    x = draw.uniform(*shape) * 4
    scale, offset, mean = (draw.uniform(shape[-1]) * 2 for _ in range(3))
    return [x, scale, offset, mean, draw.uniform(shape[-1], low=0.5, high=4)]


def offset(draw: Draw, shape: Shape) -> list[np.ndarray]:
    """A tensor far from zero: its variance is small compared with its mean."""
    x, *rest = plain(draw, shape)
    return [x / 4 + 32, *rest]


def equal(draw: Draw, shape: Shape) -> list[np.ndarray]:
    """Equal numbers in each channel: a variance of 0."""
    x, *rest = plain(draw, shape)
    return [np.broadcast_to(np.round(x[:1, :1, :1]), shape), *rest]


def special(draw: Draw, shape: Shape) -> list[np.ndarray]:
    """A channel with a NaN, one with an infinity, and plain ones."""
    x, *rest = plain(draw, shape)
    x[0, 0, 0, 0], x[0, 0, 0, 1] = np.nan, np.inf
    return [x, *rest]


#: The recipes of values.
RECIPES: Mapping[str, Numbers] = {"plain": plain, "offset": offset, "equal": equal, "special": special}
