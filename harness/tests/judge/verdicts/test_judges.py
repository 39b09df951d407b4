"""A run that names other suites or known failures is not read by them, unless a person names them too."""

import pytest

from tf_opdiff.harness.store.run_directories.judges import OURS, JudgedBy
from tf_opdiff.harness.store.run_directories.run_info import RunInfo


def other(judged_by=OURS, **names):
    return judged_by.other(RunInfo(run="r", started="s", **names))


@pytest.mark.parametrize("known", ["", "suites/known", "suites/known.toml"])
@pytest.mark.parametrize("suites", ["", "suites", "tf_opdiff.suites"])
def test_former_names_are_those_of_this_checkout(suites, known):
    assert other(suites=suites, known=known) == ""


def test_other_names_are_told_with_the_option_that_would_use_them():
    line = other(suites="mine", known="mine.toml")
    assert "run r names 'mine', which is not used: expected 'tf_opdiff.suites', or --suites 'mine' from you" in line
    assert "expected 'suites/known', or --known 'mine.toml' from you" in line
    assert other(JudgedBy("mine", "mine.toml"), suites="mine", known="mine.toml") == ""


def test_former_names_stand_for_this_checkouts_own_alone():
    assert "--known 'suites/known.toml'" in other(JudgedBy(known="mine.toml"), known="suites/known.toml")
