"""The row of a record shows inputs briefly."""

import numpy as np

from tf_opdiff.harness.judge.differences.row import _shown


def test_an_input_of_many_rows_without_elements_is_shown_by_its_type():
    assert _shown([np.zeros((2**31, 0), "float32")], (), None) == "float32[2147483648, 0]"


def test_a_small_input_is_shown_whole():
    assert _shown([np.zeros((2, 0)), np.arange(3)], (), None) == "[[], []], [0, 1, 2]"
    assert _shown([np.arange(9)], (9,), (4,)) == "4"
