"""Activations of `tf.keras.activations`: https://keras.io/api/layers/activations/."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import calls, elementwise, fixed, large, relative, special, within
from tf_opdiff.suites.reference.promises.function import wide


def _tanh_of_softplus(x):
    """tanh(log(1 + e^x)) = (e^2x + 2e^x) / (e^2x + 2e^x + 2), without overflow."""
    e = np.exp(-np.abs(x))
    grows, shrinks = (1 + 2 * e) / (1 + 2 * e + 2 * e * e), (e * e + 2 * e) / (e * e + 2 * e + 2)
    return np.where(x > 0, grows, shrinks)


@wide
def _mish(x):
    """x tanh(softplus(x)): https://arxiv.org/abs/1908.08681."""
    return x * _tanh_of_softplus(x)


def _mish_terms(x):
    t, s = _tanh_of_softplus(x), 1 / (1 + np.exp(-x))
    return t, np.where(x == np.inf, 0, x * s * (1 - t) * (1 + t))


@wide
def _logistic(x):
    return 1 / (1 + np.exp(-x))


def _mish_size(x):
    t, rest = _mish_terms(x)
    return np.abs(t) + np.abs(rest)


@wide
def _mish_slope(x):
    t, rest = _mish_terms(x)
    return t + rest


@wide
def _hard_sigmoid(x):
    return np.where(x <= -3, 0, np.where(x >= 3, 1, x / 6 + np.longdouble(0.5)))


@wide
def _hard_silu(x):
    return x * _hard_sigmoid(x)


@wide
def _hard_silu_slope(x):
    inside = (x > -3) & (x < 3)
    return _hard_sigmoid(x) + np.where(inside, x / 6, 0)


@wide
def _squareplus(x):
    """(x + √(x² + 4)) / 2, which is 2 / (√(x² + 4) - x) where x is negative, and does not cancel there.

    At -inf, the documented sum is -inf + inf.
    """
    root = np.sqrt(x * x + 4)
    return np.where(x > 0, (x + root) / 2, np.where(np.isinf(x), np.nan, 2 / (root - np.minimum(x, 0))))


@wide
def _squareplus_slope(x):
    root = np.sqrt(x * x + 4)
    return np.where(x == np.inf, 1, _squareplus(x) / root)


@wide
def _celu(x):
    return np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0) / 2))


@wide
def _celu_slope(x):
    return np.where(x >= 0, 1, np.exp(np.minimum(x, 0) / 2))


def _soft_shrink(x):
    return np.where(x > 0.5, x - 0.5, np.where(x < -0.5, x + 0.5, 0))


@wide
def _sparse_plus(x):
    return np.where(x <= -1, 0, np.where(x < 1, (x + 1) ** 2 / 4, x))


def _slope_where_not_nan(inside):
    return lambda x: np.where(inside(x), 1.0, 0.0)


SPECS = (
    *calls(
        "api-keras-smooth",
        elementwise(
            "keras.activations.mish",
            lambda tf, x: tf.keras.activations.mish(x),
            _mish,
            _mish_slope,
            error=relative(_mish, 16),
            # 1 - tanh² has an absolute error of a few u, and a factor of x comes before it.
            grad_error=lambda u, x: 8 * u * (4 * _mish_size(x) + np.where(np.abs(x) < 50, np.abs(x), 0) * _logistic(x)),
        ),
        elementwise(
            "keras.activations.squareplus",
            lambda tf, x: tf.keras.activations.squareplus(x),
            _squareplus,
            _squareplus_slope,
            # The documented sum of x and a root cancels where x is negative.
            error=lambda u, x: 4 * u * (np.abs(x) + 1),
            grad_error=lambda u, x: 4 * u,
        ),
        elementwise(
            "keras.activations.tanh_shrink",
            lambda tf, x: tf.keras.activations.tanh_shrink(x),
            wide(lambda x: np.where(np.isinf(x), x, x - np.tanh(x))),
            wide(lambda x: np.tanh(x) ** 2),
            # The documented difference cancels: tanh is off by a few u of its value.
            error=lambda u, x: 4 * u * (np.abs(x) + np.abs(np.tanh(x))),
            grad_error=lambda u, x: 8 * u,
            signed=False,
        ),
        elementwise(
            "keras.activations.celu",
            lambda tf, x: tf.keras.activations.celu(x, alpha=2.0),
            _celu,
            _celu_slope,
            error=relative(_celu, 6),
            grad_error=relative(_celu_slope, 6),
            signed=False,
        ),
        elementwise(
            "keras.activations.sparse_plus",
            lambda tf, x: tf.keras.activations.sparse_plus(x),
            _sparse_plus,
            wide(lambda x: np.where(x <= -1, 0, np.where(x < 1, (x + 1) / 2, 1))),
            error=relative(_sparse_plus, 4),
            grad_error=lambda u, x: 4 * u,
        ),
        recipes={
            "plain": within(-4, 4),
            "tails": within(-30, 30),
            "large": large,
            "zeros": fixed(0.0, 1.0, -0.0, -2.0),
        },
        ops="Softplus;Expm1;Sqrt",
    ),
    *calls(
        "api-keras-piecewise",
        elementwise(
            "keras.activations.hard_sigmoid",
            lambda tf, x: tf.keras.activations.hard_sigmoid(x),
            _hard_sigmoid,
            lambda x: np.where((x > -3) & (x < 3), 1 / 6, 0),
            error=lambda u, x: 2 * u * (1 + np.minimum(np.abs(x), 6)),
            grad_error=lambda u, x: u,
        ),
        elementwise(
            "keras.activations.hard_silu",
            lambda tf, x: tf.keras.activations.hard_silu(x),
            _hard_silu,
            _hard_silu_slope,
            error=lambda u, x: 2 * u * np.abs(x) * (1 + np.minimum(np.abs(x), 6)),
            grad_error=lambda u, x: 8 * u,
            signed=False,
        ),
        elementwise(
            "keras.activations.hard_tanh",
            lambda tf, x: tf.keras.activations.hard_tanh(x),
            lambda x: np.clip(x, -1, 1),
            _slope_where_not_nan(lambda x: (x >= -1) & (x <= 1)),
        ),
        elementwise(
            "keras.activations.hard_shrink",
            lambda tf, x: tf.keras.activations.hard_shrink(x),
            lambda x: np.where(np.abs(x) > 0.5, x, 0),
            _slope_where_not_nan(lambda x: np.abs(x) > 0.5),
            signed=False,
        ),
        elementwise(
            "keras.activations.soft_shrink",
            lambda tf, x: tf.keras.activations.soft_shrink(x),
            _soft_shrink,
            _slope_where_not_nan(lambda x: np.abs(x) > 0.5),
            ulp=0.5,
            signed=False,
        ),
        elementwise(
            "keras.activations.threshold",
            lambda tf, x: tf.keras.activations.threshold(x, 0.5, 7.0),
            lambda x: np.where(x > 0.5, x, 7.0),
            _slope_where_not_nan(lambda x: x > 0.5),
        ),
        elementwise(
            "keras.activations.relu",
            lambda tf, x: tf.keras.activations.relu(x, negative_slope=0.25, max_value=3.0, threshold=0.5),
            lambda x: np.where(x >= 3, 3, np.where(x >= 0.5, x, 0.25 * (x - 0.5))),
            lambda x: np.where(x >= 3, 0, np.where(x >= 0.5, 1, 0.25)),
            ulp=1,
        ),
        recipes={"plain": within(-4, 4), "special": special},
        ops="Relu6",
    ),
)
