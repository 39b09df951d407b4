"""The values and gradients of selections in NumPy."""

import numpy as np


def split(g, c, x, y):
    """The VJP of where: the upstream to the chosen side, zeros to the other."""
    return None, np.where(c, g, 0), np.where(c, 0, g)


def where_positive(function):
    """where(x > 0, function(x), 0)."""
    return lambda x: np.where(x > 0, function(x), 0)


def through_log(g, x):
    """Zeros go into log's gradient where x is not chosen: 0 · (1/x)."""
    return np.where(x > 0, g, 0) * (1 / x)


def through_sqrt(g, x):
    """The VJP where zeros go into sqrt's gradient if x is not chosen: 0 · 0.5/√x."""
    return np.where(x > 0, g, 0) * 0.5 / np.sqrt(x)


def spared(vjp):
    """The gradient with nothing but zeros where x is not chosen."""
    return lambda g, x: np.where(x > 0, vjp(g, x), 0)
