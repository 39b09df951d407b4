"""Forward mode and second order of references agree with differences."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.reference.images import color
from tf_opdiff.suites.reference.neural_networks.dilation import Dilation
from tf_opdiff.suites.reference.promises.complex_step import along

STEP = 1e-6


def difference(function, x, t):
    return (function(x + STEP * t) - function(x - STEP * t)) / (2 * STEP)


def close(value, other):
    return np.abs(other).max() > 0.1 and np.allclose(np.asarray(value, float), other, rtol=1e-6, atol=1e-6)


def test_the_derivative_of_a_polynomial_is_exact_and_integers_do_not_move():
    x, t, n = np.array([0.5, -3.0, 1e10]), np.array([1.0, 2.0, -1.0]), np.array([2, 3, 4])
    cube, product = along(lambda x, n: (x**3, n * x), (x, n), (t, n))
    assert np.array_equal(cube, 3 * np.longdouble(x) ** 2 * t)
    assert np.array_equal(product, n * t)


def test_forward_mode_and_second_order_of_hues_are_those_of_differences():
    draw = Draw(1)
    x, t, g = (draw.uniform(50, 3, low=low, high=1) for low in (0, -1, -1))
    x[:, 1] += 0.25 * (np.abs(x[:, 1] - x[:, 0]) < 0.05)
    x[:, 2] += 0.25 * (np.abs(x[:, 2:] - x[:, :2]) < 0.05).any(axis=1)
    assert close(color.hsv_jvp(t, x), difference(color.hsv, x, t))
    assert close(color.hsv_hvp(g, t, x), difference(lambda y: color.hsv_vjp(g, y), x, t))


def test_forward_mode_of_a_dilation_is_that_of_differences():
    draw, how = Draw(1), Dilation(strides=(2, 1), padding="SAME")
    image, kernel, *ts = (draw.uniform(*shape) for shape in ((2, 5, 4, 3), (2, 3, 3)) * 2)
    up, down = (how.f(image + sign * STEP * ts[0], kernel + sign * STEP * ts[1]) for sign in (1, -1))
    assert close(how.jvp(tuple(ts), image, kernel), (up - down) / (2 * STEP))
