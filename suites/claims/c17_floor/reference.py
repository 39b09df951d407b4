"""The errors that numeric checks report for floor, in NumPy."""

import numpy as np


def _check(points, delta, gradient):
    """The error that a numeric check in float32 reports for floor: its central difference against a gradient."""
    points, delta, width = np.float32(points), np.float32(delta), np.float32(2 * delta)
    numeric = (np.floor(points + delta) - np.floor(points - delta)) / width
    return np.abs(np.float32(gradient) - numeric)


def check_in_session(points, gradient):
    """The error that compute_gradient_error reports, whose steps are 0.001."""
    return _check(points, 1e-3, gradient)


def check_eagerly(points, gradient):
    """The error that tf.test.compute_gradient reports, whose steps are 2⁻¹⁰."""
    return _check(points, 2.0**-10, gradient)


def at_random(gradient):
    """The largest error that compute_gradient_error reports for floor at 350 points that NumPy draws, for each seed."""

    def errors(seeds):
        points = (np.random.RandomState(seed).random_sample(350) for seed in seeds)
        return np.array([np.max(check_in_session(x, gradient)) for x in points], np.float32)

    return errors


def near_integer(seeds):
    """Whether one of the 350 points that NumPy draws is within 0.001 of 0 or of 1, for each seed."""
    points = (np.random.RandomState(seed).random_sample(350) for seed in seeds)
    return np.array([np.any((x < 1e-3) | (x >= 1 - 1e-3)) for x in points])


def slopes(x):
    """The slopes of floor and of x − floor(x), by a central difference with steps of 2⁻¹⁰."""
    jump = np.where(x == np.floor(x), 2.0**9, 0)
    return jump, 1 - jump
