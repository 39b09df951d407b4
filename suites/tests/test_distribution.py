"""Tests of distributions accept right numbers, and see a distribution that is a little off."""

import numpy as np
import pytest
from scipy import stats

from tf_opdiff.suites.forms.distribution import COUNT, FALSE_ALARMS, TOLERANCE


def largest_distance(numbers, law):
    """The largest distance of the shares of numbers from a distribution function, at its points."""
    at = law.ppf(np.arange(1, 16) / 16)
    return np.abs((numbers[:, None] <= at).mean(axis=0) - law.cdf(at)).max()


def test_the_tolerance_is_that_of_the_stated_rate():
    assert 2 * np.exp(-2 * COUNT * TOLERANCE**2) == pytest.approx(FALSE_ALARMS)


@pytest.mark.parametrize("seed", range(20))
def test_right_numbers_pass(seed):
    assert largest_distance(np.random.default_rng(seed).normal(size=COUNT), stats.norm()) <= TOLERANCE


def test_numbers_that_are_one_tenth_too_small_fail(run_module):
    records = run_module("tf_opdiff.suites.tests.planted_distribution", ["eager"], ["float32"])
    verdicts = {r.spec: r.verdict for r in records if r.against == "numpy"}
    assert verdicts == {"right": "match", "off": "mismatch"}
