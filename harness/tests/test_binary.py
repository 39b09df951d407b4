"""The functions of two arguments that gradients are held against agree with mpmath, and so do their derivatives."""

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.suites.references.binary import FUNCTIONS
from tf_opdiff.suites.references.cast import cast, rounded
from tf_opdiff.suites.references.elementwise import mp


def points(name):
    """Some points inside the domain, no two of one argument alike; the order of polygamma is whole."""
    axes = [low + (high - low) * (np.arange(1, 8) - 0.37) / 7 for low, high in FUNCTIONS[name].domain]
    xs = [np.roll(axis, 3 * i)[: 7 - i] for i, axis in enumerate(axes)]
    n = min(x.size for x in xs)
    return [np.floor(x[:n]) if name == "polygamma" and i == 0 else x[:n] for i, x in enumerate(xs)]


def close(found, wanted, by=1e-15):
    return all(abs(f - w) <= max(abs(w), 1e-12) * by for f, w in zip(found, wanted, strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_agree_with_mpmath(name):
    xs = points(name)
    exact = [float(FUNCTIONS[name].exact(*map(mp.mpf, point))) for point in zip(*xs, strict=True)]
    assert close(FUNCTIONS[name].f(*xs), exact)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_derivative_agrees_with_a_numerical_one(name):
    function, xs = FUNCTIONS[name], points(name)
    for i, derivative in enumerate(function.partials):
        if derivative is not None:
            order = tuple(int(i == j) for j in range(len(xs)))
            numerical = [
                float(mp.re(mp.diff(function.exact, tuple(map(mp.mpf, point)), order)))
                for point in zip(*xs, strict=True)
            ]
            assert close(np.broadcast_to(derivative(*xs), xs[0].shape), numerical), i


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rounding_is_that_of_numpy(dtype):
    x = np.random.default_rng(5).standard_normal(3000) * 2.0 ** np.arange(-30, 12, 0.014)
    assert np.array_equal(rounded(x, np.dtype(dtype)), x.astype(dtype))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_rounding_of_float32_is_that_of_ml_dtypes(dtype):
    x = np.random.default_rng(5).standard_normal(3000).astype(np.float32)
    x[:5] = [0.0, -0.0, np.nan, np.inf, 1e38]
    target = np.dtype(getattr(ml_dtypes, dtype))
    found = rounded(x.astype(np.float64), target)
    assert np.array_equal(found.astype(float), x.astype(target).astype(float), equal_nan=True)


@pytest.mark.parametrize(("x", "wanted"), [(2**40 + 2**32, 2**40), (2**40 + 2**32 + 1, 2**40 + 2**33)])
def test_a_large_integer_is_rounded_once(x, wanted):
    assert int(cast(np.array([x]), np.dtype("bfloat16"))[0]) == wanted
