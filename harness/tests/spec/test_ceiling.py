"""Ceilings: ULPs by sign and binary exponent of the input, as texts and as arrays."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.tolerances.ceiling import Ceiling, Steps, runs

TEXT = "-20: 0.8, -3: 2.5, 4: open"


def test_steps_are_written_as_they_are_read():
    assert str(Steps.parse(TEXT)) == TEXT
    assert str(Steps.parse("")) == ""


@pytest.mark.parametrize("text", ["3: 1, 3: 2", "3: 1, 2: 2", "3: 0", "3: -1", "3: nan", "3", "x: 1", "3: wide"])
def test_a_text_of_another_form_is_refused(text):
    with pytest.raises(ValueError, match=r"ceiling|invalid literal|could not convert"):
        Steps.parse(text)


def test_a_ceiling_begins_at_its_exponent_and_ends_at_the_next():
    ceiling = Ceiling(Steps.parse(""), Steps.parse(TEXT))
    x = np.array([2.0**-21, 2.0**-20, 0.1249, 0.125, 15.99, 16.0, 1e30], np.float32)
    np.testing.assert_array_equal(ceiling(x), [np.inf, 0.8, 0.8, 2.5, 2.5, np.inf, np.inf])
    assert np.isinf(ceiling(-x)).all()


def test_only_normal_numbers_have_a_ceiling():
    always = Steps.parse("-2000: 1")
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1.2e-38, -1.2e-38], np.float32)
    np.testing.assert_array_equal(np.isfinite(Ceiling(always, always)(x)), [False] * 7 + [True] * 2)


def test_exponents_with_nearly_the_same_ceiling_share_a_step_with_the_widest():
    values = {0: 1.0, 1: 1.4, 2: 1.6, 3: np.inf, 5: 2.0}
    assert str(runs(values, 1.5)) == "0: 1.4, 2: 1.6, 3: open, 5: 2, 6: open"
    assert str(runs(values, 2)) == "0: 1.6, 3: open, 5: 2, 6: open"
