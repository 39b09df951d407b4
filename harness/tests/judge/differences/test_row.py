"""The row of a record shows inputs briefly, and of a result in rows the elements that are to blame."""

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.differences.row import _shown
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.verdicts.blame import Blame
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Origin, Trial
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Spec

PLAN = Plan(Device("cpu"), "eager")
#: Four rows of three numbers; the second row has an infinity.
ROWS = np.float32([[1, 2, 3], [1, np.inf, 1], [1, 1, 5], [4, 1, 1]])


def test_an_input_of_many_rows_without_elements_is_shown_by_its_type():
    assert _shown(np.zeros((2**31, 0), "float32"), None) == "float32[2147483648, 0]"


def test_a_small_input_is_shown_whole():
    assert [_shown(x, None) for x in (np.zeros((2, 0)), np.arange(3))] == ["[[], []]", "[0, 1, 2]"]
    assert _shown(np.arange(9), (4,)) == "4"


def shown(reference, *inputs, at=(), quantity="output[0]", value=-7.0, **more):
    """The inputs in the record of a result that differs at one index alone."""
    spec = Spec(name="x", program=reference, reference=reference, recipes={"r": lambda *_: inputs}, ops="", **more)
    (case,) = spec.cases()
    expected = expectation(case, inputs, None)
    got = {q: want.value.astype(np.float32) for q, want in expected.wants.items()}
    got[quantity][at] = value
    seen = Observation({q: Result("value", array) for q, array in got.items()})
    blame = Blame(case, inputs, expected.upstreams)
    trial = Trial("suite", case, PLAN, seen, inputs, expected.upstreams or (), blame)
    records = Judge(Context(run="r", started="s", here=Origin("2.21.0"), known=Known(()))).against_promises(
        trial, expected.wants
    )
    (record,) = (one for one in records if one.kind)
    assert record.example.startswith(f"input {record.input}, got ")
    return record.input


def softmax(x, *_):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_the_element_of_a_row_is_shown_with_the_rows_infinity():
    assert shown(softmax, ROWS, at=(1, 2)) == "[1.0, inf, 1.0] at [1] of float32[4, 3]"


def test_of_a_long_row_the_largest_number_is_shown():
    x = np.full((2, 20), 2, np.float32)
    x[:, 7] = 300
    assert shown(lambda x: x.sum(-1), x, at=(1,)) == "300.0 at [1, 7] of float32[2, 20]"


def test_of_several_inputs_each_shows_what_the_element_depends_on():
    weights = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    text = shown(lambda x, w: x @ w, ROWS[[0, 2, 3]], weights, at=(1, 0))
    assert text == "[1.0, 1.0, 5.0] at [1] of float32[3, 3], [9.0, 10.0, 11.0, 12.0] at [2] of float32[3, 4]"


def test_an_input_that_the_element_does_not_need_is_shown_by_its_type():
    assert shown(lambda x, y: np.cumsum(x, -1) + 0 * y.size, ROWS, ROWS + 1, at=(2, 0)) == "1.0, float32[4, 3]"


def test_equal_numbers_of_a_row_are_not_taken_for_one():
    ones = np.ones((2, 20), np.float32)
    assert shown(lambda x: np.cumsum(x, -1), ones, at=(1, 9)) == "1.0 at [1, 0] of float32[2, 20]"


def test_an_element_that_depends_on_no_other_is_shown_alone():
    assert shown(np.square, ROWS, at=(0, 1)) == "2.0"


def test_where_a_zero_has_the_wrong_sign_the_smallest_number_is_shown():
    x = np.full((2, 20), 2, np.float32)
    x[:, 3] = 0
    assert shown(lambda x: x.prod(-1), x, at=(1,), value=-0.0) == "0.0 at [1, 3] of float32[2, 20]"


def test_a_gradient_in_rows_shows_the_rows_infinity():
    def vjp(g, x):
        return g * np.isfinite(x.sum(-1, keepdims=True))

    text = shown(np.square, ROWS, at=(1, 0), quantity="grad[0]", vjp=vjp)
    assert text == "[1.0, inf, 1.0] at [1] of float32[4, 3]"


@pytest.mark.parametrize("elementwise", [True, False])
def test_where_the_reference_refuses_other_inputs_the_element_at_the_index_is_shown(elementwise):
    def picky(x):
        if not np.array_equal(x, ROWS):
            raise ValueError("other inputs")
        return softmax(x)

    assert shown(picky, ROWS, at=(1, 2), elementwise=elementwise) == "1.0"
