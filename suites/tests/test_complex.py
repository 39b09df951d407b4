"""The complex functions and derivatives that references use agree with numerical ones in high precision."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.forms.analytic import Analytic
from tf_opdiff.suites.reference.complex import continued
from tf_opdiff.suites.reference.wide import mp

#: The gradient of a spec that an analytic function declares is that function's.
_VJPS = {name: getattr(spec.vjp, "__self__", None) for name, spec in Catalog.load("tf_opdiff.suites.ops").specs.items()}
ANALYTIC = {name: function for name, function in _VJPS.items() if isinstance(function, Analytic) and "-pos" not in name}


@pytest.mark.parametrize("name", ANALYTIC)
def test_every_complex_derivative_agrees_with_a_numerical_one(name):
    function, points = ANALYTIC[name], [0.3 + 0.7j, -1.3 + 0.2j, 0.4 - 2.1j, -0.6 - 0.1j, 2.2 + 0.01j]
    values = continued(function.df)(np.array(points))
    for z, derivative in zip(points, values, strict=True):
        numerical = complex(mp.diff(function.f, mp.mpc(z)))
        assert abs(numerical - complex(derivative)) <= abs(numerical) * 1e-13, z


def test_the_sign_of_a_zero_tells_the_side_of_a_branch_cut():
    sides = np.array([complex(-1, 0.0), complex(-1, -0.0)])
    assert continued(mp.sqrt)(sides).astype(complex).tolist() == [1j, -1j]
