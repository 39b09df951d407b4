"""The smallest part that differs is found, wherever its numbers stand."""

import pytest

from tf_opdiff.model.shrink import smallest


@pytest.mark.parametrize("needed", [{0}, {99}, {3, 4}, {0, 99}, {10, 50, 90}, set(range(100))])
def test_what_a_difference_needs_is_left(needed):
    assert smallest(range(100), lambda part: needed <= set(part)) == tuple(sorted(needed))


def test_a_pair_of_two_thousand_takes_few_trials():
    trials = []

    def differs(part):
        trials.append(len(part))
        return {700, 1400} <= set(part)

    assert smallest(range(2000), differs) == (700, 1400)
    assert len(trials) < 60
