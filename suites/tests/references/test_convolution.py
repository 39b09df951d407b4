"""References of windows agree with another method, and their gradients with differences."""

import numpy as np
import pytest
from scipy.signal import correlate

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.reference.neural_networks.bias import BiasAdd, BiasAddGrad
from tf_opdiff.suites.reference.neural_networks.convolution import Convolution, of_windows
from tf_opdiff.suites.reference.neural_networks.dilation import Dilation

#: Shapes of an image and a filter, and a convolution.
CONVOLUTIONS = {
    "valid": ((2, 5, 6, 3), (3, 2, 3, 4), {"strides": (1, 1), "dilations": (1, 1)}),
    "groups": ((2, 7, 6, 4), (3, 2, 2, 6), {"strides": (2, 3), "dilations": (2, 1), "padding": "SAME"}),
    "explicit": ((2, 7, 6, 4), (3, 2, 4, 6), {"strides": (2, 1), "dilations": (1, 2), "padding": ((1, 2), (0, 1))}),
    "depthwise": (
        (2, 4, 5, 6),
        (3, 2, 4, 2),
        {"strides": (2, 2), "dilations": (1, 1), "padding": "SAME", "depthwise": 2, "channels_first": True},
    ),
    "volume": (
        (2, 3, 5, 4, 3),
        (2, 2, 3, 3, 4),
        {"strides": (1, 2, 1), "dilations": (1, 1, 1), "padding": "SAME"},
    ),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_two_references_of_a_convolution_agree(name):
    (image, kernel, settings), draw = CONVOLUTIONS[name], Draw(1)
    x, w = draw.uniform(*image), draw.uniform(*kernel)
    convolution = Convolution(**settings)
    assert np.allclose(convolution.f(x, w).astype(float), of_windows(convolution, x, w).astype(float), atol=1e-15)


def test_a_convolution_is_the_correlation_of_scipy():
    draw = Draw(2)
    x, w = draw.uniform(1, 5, 6, 3), draw.uniform(2, 3, 3, 1)
    convolution = Convolution(strides=(1, 1), dilations=(1, 1))
    expected = correlate(x[0], w[..., 0], mode="valid")[None]
    assert np.allclose(convolution.f(x, w).astype(float), expected, atol=1e-15)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_gradients_of_a_convolution_are_its_adjoints_and_the_results_of_their_own_ops(name):
    (image, kernel, settings), draw = CONVOLUTIONS[name], Draw(3)
    x, w = draw.uniform(*image), draw.uniform(*kernel)
    convolution = Convolution(**settings)
    g = draw.uniform(*convolution.f(x, w).shape)
    by_image, by_filter = convolution.vjp(g, x, w)
    total = float(np.sum(g * convolution.f(x, w)))
    assert float(np.sum(by_image * x)) == pytest.approx(total) == float(np.sum(by_filter * w))
    assert np.array_equal(Convolution(result="image", size=image, **settings).f(w, g), by_image)
    assert np.array_equal(Convolution(result="filter", size=kernel, **settings).f(x, g), by_filter)


def test_an_image_without_a_size_has_the_channels_of_the_filter():
    image, kernel = (1, 4, 5, 3), (2, 3, 3, 2)
    convolution = Convolution(strides=(1, 1), dilations=(1, 1), depthwise=2)
    g = Draw(4).uniform(*convolution.f(np.ones(image), np.ones(kernel)).shape)
    of_image = Convolution(result="image", strides=(1, 1), dilations=(1, 1), depthwise=2)
    assert of_image.f(np.ones(kernel), g).shape == image


def test_a_place_of_padding_turns_an_infinite_filter_into_nan_or_takes_no_part():
    x, w = np.ones((1, 3, 1, 1)), np.array([np.inf, 1.0, 1.0]).reshape(3, 1, 1, 1)
    same = Convolution(strides=(1, 1), dilations=(1, 1), padding="SAME")
    assert np.array_equal(same.f(x, w).ravel(), [2, np.inf, np.inf])
    assert np.array_equal(same.with_zeros(x, w).ravel(), [np.nan, np.inf, np.inf], equal_nan=True)


@pytest.mark.parametrize("settings", [{}, {"strides": (2, 1), "padding": "SAME"}, {"rates": (1, 2)}])
def test_gradients_of_a_dilation_are_those_of_differences(settings):
    draw, dilation = Draw(4), Dilation(**settings)
    xs = [draw.uniform(2, 4, 5, 2), draw.uniform(2, 2, 2)]
    g = draw.uniform(*dilation.f(*xs).shape)
    for i, gradient in enumerate(dilation.vjp(g, *xs)):
        step = draw.uniform(*xs[i].shape) * 1e-6
        moved = [x + step if j == i else x for j, x in enumerate(xs)]
        difference = float(np.sum(g * (dilation.f(*moved) - dilation.f(*xs))))
        assert difference == pytest.approx(float(np.sum(gradient * step)), abs=1e-12)


def test_a_dilation_takes_the_largest_sum_of_each_window():
    x, w = np.array([1.0, 5.0, 2.0]).reshape(1, 3, 1, 1), np.array([0.0, -4.0]).reshape(2, 1, 1)
    assert np.array_equal(Dilation(padding="SAME").f(x, w).ravel(), [1, 5, 2])
    assert np.array_equal(Dilation().f(x, w).ravel(), [1, 5])


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_a_bias_is_added_to_its_channel_and_its_gradient_is_a_sum(layout):
    draw, first = Draw(5), layout == "NCHW"
    x, bias, g = draw.uniform(2, 3, 4), draw.uniform(3 if first else 4), draw.uniform(2, 3, 4)
    add = BiasAdd(layout)
    expected = x + (bias[:, None] if first else bias)
    assert np.allclose(add.f(x, bias).astype(float), expected)
    by_bias = add.vjp(g, x, bias)[1]
    assert np.allclose(by_bias.astype(float), g.sum((0, 2) if first else (0, 1)))
    assert np.array_equal(BiasAddGrad(layout).f(g), by_bias)
