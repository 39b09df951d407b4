"""The second derivatives of a normalisation are those of differences, and its op of gradients follows its device."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.suites.ops.nn.layers.normalization import SPECS
from tf_opdiff.suites.reference.neural_networks.normalization import Normalization

STEP = 1e-4
HOWS = {
    f"{'training' if training else 'inference'}-{layout}": Normalization(is_training=training, data_format=layout)
    for training in (True, False)
    for layout in ("NHWC", "NCHW")
}


def arrays(shape, channels):
    random = np.random.default_rng(7)
    x, g, along = (random.standard_normal(shape) for _ in range(3))
    scale, offset, mean, by_scale, by_offset = (random.standard_normal(channels) for _ in range(5))
    return g, [x, scale, offset, mean, random.uniform(0.5, 2, channels)], (along, by_scale, by_offset)


@pytest.fixture(params=HOWS.values(), ids=HOWS)
def norm(request):
    return request.param


@pytest.fixture
def given(norm):
    return arrays((2, 3, 2, 2) if norm.first else (2, 2, 2, 3), 3)


def moved(inputs, tangents, step):
    return [x + step * t for x, t in zip(inputs, tangents, strict=False)] + inputs[3:]


def curved(norm, g, inputs, tangents):
    x, scale, _, mean, variance = inputs
    return norm.curved(g, x, scale, mean, variance, *tangents)


def test_the_derivative_along_tangents_is_that_of_differences(norm, given):
    g, inputs, tangents = given
    above, below = (norm.f(*moved(inputs, tangents, step)) for step in (STEP, -STEP))
    assert np.allclose(curved(norm, g, inputs, tangents)[0], (above - below) / (2 * STEP), rtol=1e-6, atol=1e-7)


def test_the_derivatives_of_gradients_are_those_of_differences(norm, given):
    g, inputs, tangents = given
    above, below = (norm.gradients(g, *moved(inputs, tangents, step)) for step in (STEP, -STEP))
    by_tensor, by_scale = ((up - down) / (2 * STEP) for up, down in zip(above[:2], below[:2], strict=True))
    _, own_tensor, own_scale = curved(norm, g, inputs, tangents)
    assert np.allclose(own_tensor, by_tensor, rtol=1e-6, atol=1e-7)
    assert np.allclose(own_scale, by_scale, rtol=1e-6, atol=1e-7)


def test_a_wrong_derivative_is_beyond_the_differences(given):
    g, inputs, tangents = given
    layout = "NCHW" if inputs[0].shape[1] == 3 else "NHWC"
    wrong = Normalization(is_training=True, epsilon=0.25, data_format=layout)
    right = Normalization(is_training=True, data_format=layout)
    assert not np.allclose(curved(wrong, g, inputs, tangents)[1], curved(right, g, inputs, tangents)[1], rtol=1e-3)


@pytest.mark.parametrize(("version", "xla"), [("", True), ("-v2", True), ("-v3", False)])
def test_on_a_gpu_the_op_of_gradients_takes_the_inverse_of_a_standard_deviation(version, xla):
    (spec,) = [spec for spec in SPECS if spec.name == f"fused-batch-norm-grad{version}"]
    (case, *_) = spec.cases()
    of_cpu = list(map(np.float64, case.inputs()))
    of_gpu = [*of_cpu[:4], 1 / np.sqrt(of_cpu[4] + Normalization(is_training=True).epsilon), *of_cpu[5:]]
    side = spec.side(Plan(Device.parse("gpu:0"), "eager"))
    for ours, theirs in zip(side.reference(*of_gpu), spec.reference(*of_cpu), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    for quantity, bound in side.bound.items():
        ours, theirs = (
            each(2.0**-24, None, *xs) for each, xs in ((bound, of_gpu), (spec.tolerance.bound[quantity], of_cpu))
        )
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert (spec.side(Plan(Device.parse("gpu:0"), "xla")) == side) is xla
    assert spec.side(Plan(Device("cpu"), "eager")) is None
