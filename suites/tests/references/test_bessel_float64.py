"""The Bessel functions of float64 arrays, beside their zeros and far out."""

import numpy as np
import pytest

from tf_opdiff.suites.reference.promises.wide import mp
from tf_opdiff.suites.reference.special_functions import bessel, bessel_float64

EXACT = {
    "J0": lambda x: mp.besselj(0, x),
    "J1": lambda x: mp.besselj(1, x),
    "J1_SLOPE": lambda x: mp.besselj(0, x) - mp.besselj(1, x) / x,
    "Y0": lambda x: bessel.y(0, x),
    "Y1": lambda x: bessel.y(1, x),
    "Y1_SLOPE": lambda x: bessel.y(0, x) - bessel.y(1, x) / x,
}


@pytest.mark.parametrize("name", EXACT)
def test_the_values_nearest_to_zero_have_ten_digits(name):
    function, draw = getattr(bessel_float64, name), np.random.default_rng(7)
    for top in (8, 126):
        x = np.exp2(draw.uniform(0, top, 100_000)).astype(np.float32).astype(np.float64)
        units = np.abs(function(x)) * np.sqrt(x)
        for number in x[np.argsort(units)[:8]].tolist():
            with mp.workprec(400):
                exact = EXACT[name](mp.mpf(number))
                assert abs(mp.mpf(float(function(np.array([number]))[0])) / exact - 1) < 2.0**-31, number


def test_numbers_outside_the_domain_give_nan():
    assert np.isnan(bessel_float64.Y0(np.array([-1.0, -100.0, np.nan]))).all()
    assert np.isnan(bessel_float64.J0(np.array([np.nan]))).all()
