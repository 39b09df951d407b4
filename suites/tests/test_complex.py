"""The complex functions and derivatives that references use agree with numerical ones in high precision."""

import numpy as np
import pytest

from tf_opdiff.suites.reference.wide import mp
from tf_opdiff.suites.references.analytic import ANALYTIC, wide


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
