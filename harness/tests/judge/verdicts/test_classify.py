"""The rule of verdicts: every combination of facts has its verdict, one by one and in bulk."""

import itertools
from dataclasses import fields

import numpy as np
import pytest

from tf_opdiff.harness.judge.verdicts.classify import RULE, Facts, classify, classify_all

NAMES = [field.name for field in fields(Facts)]
EVERY = [dict(zip(NAMES, values, strict=True)) for values in itertools.product([False, True], repeat=len(NAMES))]


def in_words(*, fault, lacking, differs, expected, spent, excused, contract):
    """The rule once more, as the documents tell it."""
    if fault:
        return "error"
    if lacking:
        return "unavailable"
    if differs and not expected:
        return "mismatch"
    if spent and not excused:
        return "stale"
    if differs:
        return "known"
    return "contract" if contract else "match"


@pytest.mark.parametrize("facts", EVERY, ids=lambda facts: "+".join(n for n, so in facts.items() if so) or "none")
def test_the_table_says_what_the_words_say(facts):
    assert classify(Facts(**facts)) == in_words(**facts)


def test_several_comparisons_get_the_verdicts_that_each_gets_alone():
    columns = {name: np.array([facts[name] for facts in EVERY]) for name in NAMES}
    assert classify_all(Facts(**columns)).tolist() == [classify(Facts(**facts)) for facts in EVERY]


def test_one_bool_is_a_fact_of_all_comparisons_and_there_may_be_none():
    assert classify_all(Facts(differs=np.array([True, False]), spent=True)).tolist() == ["mismatch", "stale"]
    assert classify_all(Facts(differs=np.zeros(0, bool))).tolist() == []


@pytest.mark.parametrize("number", range(len(RULE)))
def test_every_row_decides_about_some_comparison(number):
    first = {
        next(i for i, (row, _) in enumerate(RULE) if all(facts[n] is so for n, so in row.items())) for facts in EVERY
    }
    assert number in first
