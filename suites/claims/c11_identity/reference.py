"""Losses and their moving averages in NumPy."""

import numpy as np


def losses(batches):
    """The mean square of each batch."""
    return np.mean(batches**2, -1)


def averages(losses, rate):
    """A moving average that starts at 0, after each loss."""
    after_each, average = [], 0.0
    for loss in losses:
        average -= (average - loss) * rate
        after_each.append(average)
    return np.array(after_each)


def five(x):
    """The loss of one batch, five times."""
    return np.full(5, losses(x))


def five_averages(x):
    """The moving average of that loss after each of five steps."""
    return averages(five(x), 0.125)


def _off(u, g, x):
    """A mean of squares, and five times four roundings of numbers that are no larger."""
    return (x.shape[-1] + 21) * u * np.max(losses(x))


LOSS = {"output[0]": lambda u, g, x: (x.shape[-1] + 1) * u * losses(x), "output[1]": _off, "output[2]": _off}
