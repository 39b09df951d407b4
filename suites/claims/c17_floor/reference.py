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
