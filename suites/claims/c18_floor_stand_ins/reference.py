"""The relaxations, their slopes and their errors in NumPy."""

import itertools
import math

import numpy as np

K = np.array([[1.0], [2.0], [4.0], [8.0]])


def sigmoid(x):
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


def ramp(x):
    """A step as a ramp of slope K."""
    return np.clip(K * x + 0.5, 0, 1)


def stairs_of_sigmoids(x):
    """floor as a sum of five sigmoids."""
    return sum(sigmoid(K * (x - n)) for n in range(1, 6))


def stairs_of_ramps(x):
    """floor with a ramp of slope K around each step."""
    nearest = np.floor(x + 0.5)
    return nearest - 1 + ramp(x - nearest)


def by_sigmoid(x):
    """The slope of sigmoid(K·x)."""
    return K * sigmoid(K * x) * sigmoid(-K * x)


def by_ramp(x):
    """The slope of the ramp."""
    return np.where(np.abs(K * x) < 0.5, K, 0)


def step(x):
    """1 from 0 on, 0 below."""
    return (x >= 0).astype(float)


def falling(smooth, sharp):
    """The largest error at 1/8 and more from a step, for each sharpness; it falls, or it would be no approach."""

    def reference(x):
        away = np.abs(x - np.floor(x + 0.5)) >= 0.125
        errors = np.max(np.where(away, np.abs(smooth(x) - sharp(x)), 0), 1)
        if not all(later < earlier or later == 0 for earlier, later in itertools.pairwise(errors)):
            raise ArithmeticError(f"the errors do not fall: {errors}")
        return errors

    return reference


def erf_step(x):
    """A step behind a Gaussian filter: by erfc, which is accurate where erf is next to −1."""
    return 0.5 * np.vectorize(math.erfc)(-K * x)


def by_erf(x):
    """The slope of `erf_step`."""
    return K / np.sqrt(np.pi) * np.exp(-((K * x) ** 2))


SLOPE = {"grad": lambda u, g, x: 4 * u * K * np.abs(g)}
#: erf is off by 8 roundings at most; in its gradient, the square in the exponent counts as it is large.
ERF = {
    "output": lambda u, g, x: 5 * u,
    "grad": lambda u, g, x: (8 + 2 * (K * x) ** 2) * u * np.abs(g) * by_erf(x),
}
#: Five sigmoids, each of its budget, and four additions.
SIGMOIDS = {
    "output": lambda u, g, x: 15 * u * stairs_of_sigmoids(x),
    "grad": lambda u, g, x: 25 * u * K * np.abs(g),
}


def by_window(x):
    """The slope of floor behind a box filter: the steps in the window, divided by its width."""
    return K * (np.floor(x + 0.5 / K) - np.floor(x - 0.5 / K))


def window_bound(u, g, x):
    """Two products and their difference, each rounded; where the difference is 0, XLA may round one of them only."""
    return 2 * u * K * np.abs(g) * (np.floor(x + 0.5 / K) + np.floor(x - 0.5 / K))


def along(slope):
    """The upstream times a slope; 0 is without a sign."""
    return lambda g, x: np.where(slope(x) == 0, 0, g * slope(x))
