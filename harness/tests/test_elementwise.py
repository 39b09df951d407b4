"""The derivatives that gradients are held against agree with numerical ones in high precision."""

import numpy as np
import pytest

from suites.references.analytic import ANALYTIC, wide
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


@pytest.mark.parametrize("name", ANALYTIC)
def test_every_complex_derivative_agrees_with_a_numerical_one(name):
    function, points = ANALYTIC[name], [0.3 + 0.7j, -1.3 + 0.2j, 0.4 - 2.1j, -0.6 - 0.1j, 2.2 + 0.01j]
    found = wide(function.d)(np.array(points))
    for z, derivative in zip(points, found, strict=True):
        numerical = complex(mp.diff(function.f, mp.mpc(z)))
        assert abs(numerical - complex(derivative)) <= abs(numerical) * 1e-13, z


def test_the_sign_of_a_zero_tells_the_side_of_a_branch_cut():
    sides = np.array([complex(-1, 0.0), complex(-1, -0.0)])
    assert wide(ANALYTIC["sqrt"].f)(sides).astype(complex).tolist() == [1j, -1j]
