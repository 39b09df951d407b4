"""The complex functions and derivatives that references use agree with numerical ones in high precision."""

from dataclasses import replace

import numpy as np
import pytest

from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.planted_faults.mutation import truth
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Case, Catalog
from tf_opdiff.suites.forms.elementwise.analytic import Analytic
from tf_opdiff.suites.reference.elementwise.complex import continued
from tf_opdiff.suites.reference.promises.wide import mp

#: The gradient of a spec that an analytic function declares is that function's.
_VJPS = {
    name: getattr(spec.derivatives.vjp, "__self__", None)
    for name, spec in Catalog.load("tf_opdiff.suites.ops").specs.items()
}
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


def test_a_logarithm_at_its_branch_point_is_that_of_annex_g():
    """C99, annex G.6.3.2: clog(+0 + 0i) is -inf + 0i, of the sign of the imaginary part."""
    log1p = _VJPS["log1p-complex"]
    values = log1p.value(np.array([complex(-1, 0.0), complex(-1, -0.0)]))
    assert values.real.tolist() == [-np.inf, -np.inf]
    assert values.imag.tolist() == [0, 0]
    assert np.signbit(values.imag).tolist() == [False, True]


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_derivative_at_a_branch_point_is_infinite(side):
    for name, points in (("acosh-complex", (1.0, -1.0)), ("log1p-complex", (-1.0,)), ("reciprocal-complex", (0.0,))):
        for point in points:
            (slope,) = continued(ANALYTIC[name].df)(np.array([complex(point, side * 0.0)]))
            assert np.isinf(slope.real) or np.isinf(slope.imag), (name, point)


def test_at_a_pole_any_complex_infinity_is_right_and_nothing_finite():
    spec = Catalog.load("tf_opdiff.suites.ops").specs["reciprocal-complex"]
    case = Case(spec, "complex64", "corners")
    (z,) = case.inputs()
    with np.errstate(all="ignore"):
        want = expectation(case, (z,), None).wants["output[0]"]
        right = truth(want)
    assert (z == 0).any()
    for at_pole, kind in ((complex(np.inf, np.nan), ""), (complex(np.nan, np.nan), ""), (1e30, "inf")):
        planted = replace(right, value=np.where(z == 0, np.complex64(at_pole), right.value))
        assert compare(planted, want, "output[0]").kind == kind, at_pole
