"""The reference of complex powers with special parts, and what its alternatives accept."""

import numpy as np

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.reference.elementwise.complex_power import logarithm1p, power

SPEC = Catalog.load("tf_opdiff.suites.ops.math").specs["pow-complex-special"]
NAN = complex(np.nan, np.nan)


def of(*numbers):
    return np.array(numbers, np.complex128)


@np.errstate(all="ignore")
def permitted(result, x, y):
    """Whether a result of complex64 is the promise for x^y, or one of its alternatives."""
    x, y = of(x), of(y)
    values = (SPEC.reference(x, y), *SPEC.tolerance.alternatives["output[0]"](np.dtype("complex64"), None, x, y))
    return any(np.array_equal(of(result), np.asarray(value, np.complex64), equal_nan=True) for value in values)


def test_powers_of_ordinary_numbers_are_those_of_numpy():
    rng = np.random.default_rng(3)
    x, y = (rng.uniform(-3, 3, 50) + 1j * rng.uniform(-3, 3, 50) for _ in "xy")
    np.testing.assert_allclose(power(x, y).astype(np.complex128), x**y, rtol=1e-13)


def test_the_sign_of_a_zero_tells_the_side_of_the_branch_cut():
    above, below = power(of(complex(-2.0, 0.0), complex(-2.0, -0.0)), of(0.5, 0.5))
    assert above.imag > 1 and below.imag < -1


@np.errstate(all="ignore")
def test_powers_of_zero():
    values = power(of(0, 0, 0, 0), of(0, 2 + 1j, -1, 1j))
    assert values[:2].tolist() == [1, 0]
    assert np.isinf(values[2])
    assert np.isnan(values[3])


def test_no_power_of_zeros_is_nan_and_no_power_of_nan_is_zero():
    assert not permitted(NAN, 0, 0)
    assert not permitted(0, complex(0, np.nan), 1)
    assert permitted(NAN, complex(0, np.nan), 1)


def test_a_power_of_an_infinity_is_no_number():
    assert permitted(complex(np.inf, np.nan), complex(np.inf, np.nan), 1)
    assert permitted(0, complex(np.inf, np.nan), -1)
    assert not permitted(5, complex(np.inf, np.nan), 1)


@np.errstate(all="ignore")
def test_the_logarithm_keeps_the_digits_of_tiny_numbers_and_the_pole():
    values = logarithm1p(of(1e-30 + 1e-30j, -1, complex(np.inf, 0)))
    assert values[0] == 1e-30 + 1e-30j
    assert np.isneginf(values[1].real) and np.isposinf(values[2].real)
