"""The derivatives of local response normalisation agree with differences."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.reference.neural_networks.local_response import LocalResponse, LocalResponseGradient

SHAPE, STEP = (2, 1, 2, 6), 1e-6
NORMS = [LocalResponse(2), LocalResponse(1, 2.0, 0.25, 1.0), LocalResponse(3, 0.5, 0.5, 0.75)]


def difference(function, xs, i, along):
    """The derivative of a function along a direction of input i, from two values."""
    up, down = ([x + sign * STEP * along if j == i else x for j, x in enumerate(xs)] for sign in (1, -1))
    return (function(*up) - function(*down)) / (2 * STEP)


def test_a_channel_without_neighbours_is_divided_by_its_own_square():
    x = np.array([3.0, 4.0]).reshape(1, 1, 1, 2)
    assert np.allclose(LocalResponse(0, 7.0, 1.0, 0.5).f(x).astype(float).ravel(), [3 / 4, 4 / 23**0.5])
    assert np.allclose(LocalResponse(1, 0.0, 1.0, 0.5).f(x).astype(float).ravel(), [3 / 5, 4 / 5])


@pytest.mark.parametrize("norm", NORMS)
def test_derivatives_are_those_of_differences(norm):
    draw = Draw(1)
    x, g, t = (draw.uniform(*SHAPE) for _ in range(3))
    (by_x,), moved = norm.vjp(g, x), difference(norm.f, [x], 0, t)
    assert np.allclose(moved.astype(float), norm.jvp((t,), x).astype(float), atol=1e-8)
    assert float(np.sum(g * moved)) == pytest.approx(float(np.sum(by_x * t)), abs=1e-8)
    assert np.allclose(by_x.astype(float), norm.by_jacobian(g, x, norm.f(x)).astype(float))
    second = difference(lambda x: norm.vjp(g, x)[0], [x], 0, t)
    assert np.allclose(second.astype(float), norm.hvp(g, (t,), x)[0].astype(float), atol=1e-8)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("i", range(3))
def test_gradients_of_the_gradient_are_those_of_differences(norm, i):
    draw, gradient = Draw(2), LocalResponseGradient(**vars(norm))
    *xs, h, t = (draw.uniform(*SHAPE) for _ in range(5))
    moved = difference(gradient.f, xs, i, t)
    assert float(np.sum(h * moved)) == pytest.approx(float(np.sum(gradient.vjp(h, *xs)[i] * t)), abs=1e-8)


def test_a_nan_reaches_the_channels_in_its_window_alone():
    x = np.array([np.nan, 1.0, 2.0, 3.0]).reshape(1, 1, 1, 4)
    assert np.isnan(LocalResponse(1).f(x).astype(float)).ravel().tolist() == [True, True, False, False]
