"""Tests of distributions accept right numbers, and see a distribution that is a little off."""

import numpy as np
import pytest
from scipy import stats

from tf_opdiff.suites.forms.random_numbers.distribution import COUNT, FALSE_ALARMS, TOLERANCE
from tf_opdiff.suites.forms.random_numbers.moments import LARGEST
from tf_opdiff.suites.reference.random_numbers import gamma_numbers


def largest_distance(numbers, law):
    """The largest distance of the shares of numbers from a distribution function, at its points."""
    at = law.ppf(np.arange(1, 16) / 16)
    return np.abs((numbers[:, None] <= at).mean(axis=0) - law.cdf(at)).max()


def test_the_tolerance_is_that_of_the_stated_rate():
    assert 2 * np.exp(-2 * COUNT * TOLERANCE**2) == pytest.approx(FALSE_ALARMS)


def test_a_mean_is_beyond_the_largest_deviation_with_the_stated_rate():
    assert 2 * stats.norm.sf(LARGEST) < FALSE_ALARMS


@pytest.mark.parametrize("seed", range(20))
def test_right_numbers_pass(seed):
    assert largest_distance(np.random.default_rng(seed).normal(size=COUNT), stats.norm()) <= TOLERANCE


def test_numbers_that_are_one_tenth_too_small_fail(run_module):
    records = run_module("tf_opdiff.suites.tests.planted.planted_distribution", ["eager"], ["float32"])
    verdicts = {r.spec: r.verdict for r in records if r.against == "numpy"}
    assert {name: verdicts[name] for name in ("right", "off")} == {"right": "match", "off": "mismatch"}


def test_a_gradient_by_the_shape_that_is_one_twentieth_too_large_fails(run_module):
    records = run_module("tf_opdiff.suites.tests.planted.planted_gamma_numbers", ["eager"], ["float32"])
    verdicts = {(r.spec, r.quantity): r.verdict for r in records if r.against == "numpy"}
    assert {pair for pair, verdict in verdicts.items() if verdict != "match"} == {("steep-means", "grad[0]")}
    assert len(verdicts) > 1


def test_the_mean_of_the_derivatives_of_numbers_is_the_derivative_of_the_mean():
    alpha = np.array([0.75, 2.5, 10.0])
    for of_numbers, slope in zip(gamma_numbers.slopes_of_numbers(alpha), gamma_numbers.slopes(alpha), strict=True):
        assert of_numbers.mean(axis=1) == pytest.approx(slope, rel=0.01)
