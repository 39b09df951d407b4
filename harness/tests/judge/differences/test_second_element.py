import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare, illustrated
from tf_opdiff.harness.judge.differences.comparison import Comparison, Element
from tf_opdiff.harness.judge.differences.second_element import with_second
from tf_opdiff.harness.judge.promises.want import Want


def shown(got, want, budget=0.0):
    came = Result("value", np.array(got, np.float32))
    promise = Want("value", np.array(want, np.float64), np.dtype(np.float32), budget=budget)
    found = compare(came, promise, "output[0]")
    found = found if found.kind else illustrated(found, came, promise, ())
    return with_second(found, came, promise, "output[0]", inputs=())


def test_the_second_element_is_the_worst_of_the_rest():
    found = shown([1, 2, 5, 3.5], [1, 9, 5, 3])
    assert (found.index, found.got, found.want, found.mismatched) == ((1,), "2.0", "9.0", 2)
    assert found.simplest == Element((3,), "3.5", "3.0")


@pytest.mark.parametrize(("got", "want", "budget"), [([1, 2], [1, 3], 0), (4, 5, 0), ([1, 3.0000002], [2, 3], 2)])
def test_a_lone_difference_has_no_second_element(got, want, budget):
    found = shown(got, want, budget)
    assert found.simplest is None or found.simplest.index == found.index


def test_a_denied_value_shows_another_element_that_came():
    found = shown([1, 2, 3], [1, 2, 3])
    assert not found.kind and found.simplest.index != found.index and found.simplest.got == found.simplest.want
    assert shown([1], [1]).simplest is None


def test_a_comparison_without_an_element_stays_as_it_is():
    found = Comparison(kind="status", got="error X", want="value")
    assert with_second(found, Result("error", code="X"), Want("value"), "output[0]", inputs=()) is found
