"""The derivatives that gradients are held against agree with numerical ones in high precision."""

import numpy as np
import pytest

from suites.references.elementwise import PAIRS, mp


@pytest.mark.parametrize("name", PAIRS)
def test_every_derivative_agrees_with_a_numerical_one(name):
    pair = PAIRS[name]
    low, high = np.maximum(pair.domain[0], -20.0), np.minimum(pair.domain[1], 20.0)
    inside = [float(x) for x in low + (high - low) * (np.arange(1, 24) - 0.37) / 23 if abs(x) > 0.01]
    found = pair.d(np.array(inside))
    for x, derivative in zip(inside, found, strict=True):
        numerical = float(mp.re(mp.diff(lambda t: mp.convert(pair.f.f(t)), mp.mpf(x))))
        assert abs(numerical - derivative) <= abs(numerical) * 1e-15, x


@pytest.mark.parametrize("name", PAIRS)
def test_values_are_wide_and_keep_nan_and_signs(name):
    pair = PAIRS[name]
    assert np.isnan(pair.f(np.array([np.nan, 1.0]))).tolist()[0]
    assert pair.f(np.ones(3)).dtype == np.longdouble
    if pair.f.odd:
        assert (np.signbit(pair.f(np.array([-0.0]))) != np.signbit(pair.f(np.array([0.0])))).all()
