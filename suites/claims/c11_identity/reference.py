"""Losses and their moving averages in NumPy."""

import numpy as np


def losses(batches):
    return np.mean(batches**2, -1)


def averages(losses, rate):
    """Where a moving average that starts at 0 is after each loss."""
    found, average = [], 0.0
    for loss in losses:
        average -= (average - loss) * rate
        found.append(average)
    return np.array(found)


def five(x):
    return np.full(5, losses(x))


def five_averages(x):
    return averages(five(x), 0.125)


def _off(u, g, x):
    """A mean of squares, and five times four roundings of numbers that are no larger."""
    return (x.shape[-1] + 21) * u * np.max(losses(x))


LOSS = {"output[0]": lambda u, g, x: (x.shape[-1] + 1) * u * losses(x), "output[1]": _off, "output[2]": _off}
