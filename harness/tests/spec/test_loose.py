"""Loose: a bound may allow much where the declaration says why, and nowhere else."""

import pytest

from tf_opdiff.harness.spec.tolerances.loose import Loose


def test_loose_elements_are_those_of_the_function():
    assert Loose(lambda x, above=0: x > above, "the terms of the sum cancel here")(3, above=2)


@pytest.mark.parametrize("reason", ["", "loses digits", "  "])
def test_a_reason_is_a_sentence(reason):
    with pytest.raises(ValueError, match="expected a sentence that says why the bound is wide"):
        Loose(lambda x: x > 0, reason)


def test_loose_takes_a_function_of_the_inputs():
    with pytest.raises(TypeError, match="loose: expected a function, got True"):
        Loose(True, "the terms of the sum cancel here")
