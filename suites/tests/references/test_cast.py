"""The conversions that are references agree with those of NumPy and ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.suites.reference.elementwise.cast import cast, rounded


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
