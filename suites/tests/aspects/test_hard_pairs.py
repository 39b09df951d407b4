"""Recipes of two floats at extremes hold what they promise, and their alternatives allow flushing and nothing else."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import FLOATS, Draw
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.suites.forms.recipes import hard_pairs
from tf_opdiff.suites.forms.recipes.hard_pairs import crossed_upstreams, special_upstreams, special_values
from tf_opdiff.suites.reference.elementwise.cast import saturating_cast
from tf_opdiff.suites.reference.promises.subnormal import flushed_in
from tf_opdiff.suites.reference.promises.wide import mp
from tf_opdiff.suites.reference.special_functions.incomplete_beta import betainc
from tf_opdiff.suites.reference.special_functions.incomplete_gamma import igamma, igammac

SPECS = Catalog.load(SUITES).specs


def wants(name, dtype, recipe):
    case = Case(SPECS[name], dtype, recipe)
    with np.errstate(all="ignore"):
        return expectation(case, case.inputs(), None).wants


def kind(want, value, quantity="output[0]", budget=0.5):
    with np.errstate(all="ignore"):
        result = Result("value", np.asarray(value).astype(want.dtype))
        return compare(result, replace(want, budget=budget), quantity).kind


@pytest.mark.parametrize("dtype", FLOATS)
def test_tiny_pairs_are_subnormal_in_either_place_and_meet_every_special_value(dtype):
    d = np.dtype(dtype)
    x, y = (a.astype(float) for a in hard_pairs.tiny(Draw(1), d))
    least = float(ml_dtypes.finfo(d).smallest_normal)
    small = [(np.abs(a) < least) & (a != 0) for a in (x, y)]
    assert all(s.sum() > 300 for s in small)
    for value in special_values(d).astype(float):
        for other, s in ((y, small[0]), (x, small[1])):
            same = np.isnan(other) if np.isnan(value) else (other == value) & (np.signbit(other) == np.signbit(value))
            assert (same & s).any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_exponents_are_spread_over_the_range_of_the_dtype(dtype):
    d = np.dtype(dtype)
    x, y = (a.astype(float) for a in hard_pairs.exponents(Draw(1), d))
    bins = np.floor(np.log2(np.abs(np.concatenate([x, y])))).astype(int)
    info = ml_dtypes.finfo(d)
    assert (bins.min(), bins.max()) <= (int(info.minexp) + 2, int(info.maxexp) - 1)
    assert bins.min() <= info.minexp + 2
    assert bins.max() >= info.maxexp - 3
    for near in (x == y, x == -y, (x != y) & (np.abs(x - y) <= np.abs(x) * float(info.eps))):
        assert near.sum() > 40


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_special_pair_meets_every_special_upstream(dtype):
    d = np.dtype(dtype)
    x, y = hard_pairs.special_pairs(Draw(1), d)
    g = crossed_upstreams(Draw(2), d, x.size)
    distinct = {tuple(a.tobytes() for a in triple) for triple in zip(x, y, g, strict=True)}
    assert len(distinct) == special_values(d).size ** 2 * special_upstreams(d).size


def test_each_special_pair_stands_in_the_twin_of_a_binary_spec():
    x, y = Case(SPECS["add-position"], "float32", "special").inputs()
    values = special_values(np.dtype("float32"))
    assert len({(a.tobytes(), b.tobytes()) for a, b in zip(x, y, strict=True)}) == values.size**2


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_a_result_may_be_flushed_or_exact_as_a_whole_and_nothing_else(dtype):
    want = wants("mul", dtype, "tiny")["output[0]"]
    flushed = flushed_in(np.dtype(dtype), want.value)
    assert (flushed != want.value).sum() > 50
    turn = np.arange(want.value.size) % 2 == 0
    assert kind(want, want.value) == kind(want, flushed) == ""
    assert kind(want, np.where(turn & ~np.isnan(want.value), flushed, want.value))
    least = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    at = np.flatnonzero((flushed != want.value) & (np.abs(want.value) > 9 * least))[0]
    wrong = want.value.copy()
    wrong[at] = want.value[at] * 2
    assert kind(want, wrong)
    wrong[at] = -flushed[at]
    assert kind(want, wrong)


@np.errstate(all="ignore")
def test_a_gradient_may_be_infinite_where_the_derivative_alone_overflows():
    want = wants("div", "float32", "huge")["grad[0]"]
    alone = np.isinf(np.asarray(want.alternatives)).any(0) & np.isfinite(want.value.astype(np.float32))
    assert alone.any()
    infinite = np.where(alone, np.copysign(np.inf, want.value), want.value)
    assert kind(want, infinite, "grad[0]", 2.5) == ""
    usual = np.flatnonzero(np.isfinite(want.value) & ~np.isinf(np.asarray(want.alternatives)).any(0))[0]
    infinite[usual] = np.inf
    assert kind(want, infinite, "grad[0]", 2.5) == "inf"


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_a_cast_beyond_the_range_gives_the_nearest_number(dtype):
    info = np.iinfo(dtype)
    x = np.array([np.nan, np.inf, -np.inf, 1e30, 2.0**64, 5.75])
    assert saturating_cast(x, np.dtype(dtype)).tolist() == [0, info.max, info.min, info.max, info.max, 5]


@pytest.mark.parametrize(("a", "x"), [(1e8, 1e8), (1e8, 1.0001e8), (1e8, 0.9999e8), (1e12, 1e12 + 1e6), (1e4, 1e4)])
def test_incomplete_gamma_functions_of_large_arguments_are_those_of_scipy(a, x):
    p, q = float(igamma(mp.mpf(a), mp.mpf(x))), float(igammac(mp.mpf(a), mp.mpf(x)))
    assert (p, q) == pytest.approx((special.gammainc(a, x), special.gammaincc(a, x)), rel=1e-12)


@pytest.mark.parametrize(("a", "x"), [(3.5, 1e-30), (1e-3, 1e-30), (1e-25, 1e-40), (0.5, 5e-324)])
def test_incomplete_gamma_functions_of_tiny_arguments_are_those_of_many_bits(a, x):
    p, q = igamma(mp.mpf(a), mp.mpf(x)), igammac(mp.mpf(a), mp.mpf(x))
    with mp.workprec(2400):
        lower = mp.gammainc(mp.mpf(a), 0, mp.mpf(x), regularized=True)
        assert abs(p / lower - 1) < 1e-20
        assert abs(q / (1 - lower) - 1) < 1e-20


@pytest.mark.parametrize(
    ("a", "b", "x"),
    [(0.75, 1e-29, 0.9999), (3, 1e-40, 1e-5), (1e-30, 3e-31, 0.3), (1e-40, 1e-60, 0.5), (1e-29, 3, 0.2)],
)
def test_the_incomplete_beta_function_of_tiny_shapes_is_that_of_many_bits(a, b, x):
    a, b, x = map(mp.mpf, (a, b, x))
    with mp.workprec(900):
        assert abs(betainc(a, b, x) / mp.betainc(a, b, 0, x, regularized=True) - 1) < 1e-20


def test_the_incomplete_beta_function_of_a_huge_shape_is_a_limit():
    huge, other = mp.ldexp(1, 1010), mp.mpf(2.5)
    x = 3 / huge
    assert betainc(other, huge, x) == igamma(other, 3)
    assert betainc(huge, other, 0.75) == betainc(huge, huge, 0.25) == 0
    assert betainc(other, huge, 0.5) == betainc(huge, huge, 0.75) == 1
