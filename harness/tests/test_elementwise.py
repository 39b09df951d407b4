"""The derivatives that gradients are held against agree with numerical ones in high precision."""

import numpy as np
import pytest

from tf_opdiff.harness.judge.compare import differences
from tf_opdiff.harness.spec import precision
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.recipes import Draw, bit_patterns, edges, subnormals
from tf_opdiff.suites.references.analytic import ANALYTIC, wide
from tf_opdiff.suites.references.elementwise import PAIRS, mp
from tf_opdiff.suites.references.fast import FAST


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


def _all_over(name):
    """Arguments of every dtype that is narrower than float64: the edges, random bits, all over the domain."""
    found = []
    for dtype in map(np.dtype, ("float16", "bfloat16", "float32")):
        found += [recipe(Draw(5), dtype)[0] for recipe in (edges, bit_patterns, subnormals)]
        found.append(Draw(3).uniform(100, low=PAIRS[name].domain[0], high=PAIRS[name].domain[1]).astype(dtype))
    found.append(np.arange(0, 1 << 16, 257).astype(np.uint16).view(np.float16))
    x = np.concatenate([x.astype(np.float64) for x in found])
    return x[(np.abs(x) < 2.0**16) | ~np.isfinite(x)] if name[:8] in ("bessel-j", "bessel-y") else x


#: Where a function has a zero that is no float, or the terms of a float64 cancel: 1/30 ULP of a float32, at the most.
LOOSE = {"bessel-k1e": 2.0**-40, "digamma": 2.0**-34, "lgamma": 2.0**-28}
LOOSE |= dict.fromkeys(("bessel-j0", "bessel-j1", "bessel-y0", "bessel-y1"), 2.0**-28)


@pytest.mark.parametrize("name", FAST)
def test_the_fast_function_is_the_wide_one_as_far_as_float32_can_tell(name):
    x = _all_over(name)
    for function in PAIRS[name][:2]:
        with np.errstate(all="ignore"):
            wide = function(x)
            with precision.quick() as taken:
                fast = np.asarray(function(x), np.float64)
            found = differences(
                fast, wide, np.dtype(np.float64), bound=np.abs(wide) * LOOSE.get(name, 2.0**-42) + 2.0**-160
            )
        assert taken
        wrong = np.flatnonzero(found.wrong & ~((fast == 0) & (np.abs(wide) < 2.0**-1000)))
        assert not wrong.size, [(x[i], fast[i], wide[i]) for i in wrong[:5]]


def test_every_unary_op_that_takes_16_bits_is_swept():
    lacking = [
        item.id
        for item in Catalog.load("tf_opdiff.suites").items
        if item.suite in ("unary", "rounding") and item.dtype in ("float16", "bfloat16")
        if not (item.sweeps or item.spec.elementwise)
    ]
    assert not [name for name in lacking if not name.rpartition("-")[0].endswith(("-grad", "-subnormal"))]


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
