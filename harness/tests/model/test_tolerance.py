"""The tolerance of a result covers what rounding does, and no wrong result."""

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.model.answers import tolerance


def by_condition(function, x, got, terms=1.0):
    """The comparison of a result with that of a function, within its condition at x."""
    base = function(x)
    samples = [function(tolerance.shaken(seed)(x)) for seed in tolerance.SAMPLES]
    return tolerance.compared(got, base, tolerance.ULP, tolerance.allowed_error(base, samples, terms))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_shaken_numbers_are_a_few_units_of_rounding_off(dtype):
    x = np.linspace(1, 2, 1000).astype(dtype)
    unit = float(ml_dtypes.finfo(x.real.dtype).eps) / 2
    off = np.abs(tolerance.shaken(3)(x).astype(complex) / x.astype(complex) - 1)
    assert 0 < off.max() <= (tolerance.SHAKE + 2) * unit


def test_zeros_and_integers_stay_as_they_are():
    change = tolerance.shaken(1)
    assert not change(np.zeros(5, np.float32)).any()
    assert (change(np.arange(5)) == np.arange(5)).all()


@pytest.mark.parametrize("size", [10, 1000, 100_000])
def test_sums_in_another_order_are_within_and_a_lost_term_is_not(size):
    x = np.random.default_rng(0).normal(size=(20, size)).astype(np.float32)

    def total(x):
        return np.add.reduce(x, axis=1, dtype=np.float32)

    terms = tolerance.terms([x], total(x))
    assert terms == size
    in_order = np.cumsum(x, axis=1, dtype=np.float32)[:, -1]
    assert not tolerance.serious(by_condition(total, x, in_order, terms))
    assert tolerance.serious(by_condition(total, x, total(x[:, 1:]), terms))


def test_products_of_matrices_have_as_many_terms_as_their_inner_size():
    assert tolerance.terms([np.ones((30, 50)), np.ones((50, 20))], np.ones((30, 20))) == 50


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0, 0.0, 2.0])
def test_a_wrong_element_differs_whatever_the_condition(wrong):
    x = np.linspace(0.5, 1.5, 100, dtype=np.float32)
    got = np.cos(x)
    got[7] = wrong * (got[7] if np.isfinite(wrong) else 1)
    assert tolerance.serious(by_condition(np.cos, x, got))


def test_zeros_of_another_sign_are_seen_and_not_serious():
    comparison = tolerance.compared(np.float32([0.0]), np.float32([-0.0]), 0.0)
    assert comparison.kinds == ("signed_zero",)
    assert not tolerance.serious(comparison)


def test_the_relative_error_of_another_class_is_infinite():
    assert tolerance.relative_error(np.float32([1, np.nan]), np.float32([1, 2])) == np.inf
    assert tolerance.relative_error(np.float32([1, 2.5]), np.float32([1, 2])) == 0.25
    assert tolerance.relative_error(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 5])) == 0.25
    assert tolerance.relative_error(np.float32([np.nan]), np.float32([np.nan])) == 0
