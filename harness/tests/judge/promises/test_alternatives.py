"""A promise with several values: each element keeps one of them, and no other value passes."""

from dataclasses import replace

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.planted_faults.mutation import score
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.contract import Side
from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.tests.planted_specs.planted_promises import SPECS

FLOAT = np.dtype("float32")
EITHER = Want("value", np.array([1.0, 2.0, 3.0]), FLOAT, alternatives=(np.array([1.0, -0.0, 3.0]),))


def kind(values, want=EITHER, dtype=np.float32):
    return compare(Result("value", np.array(values, dtype)), want, "output[0]").kind


def test_each_element_may_keep_another_promise():
    assert kind([1, 2, 3]) == kind([1, -0.0, 3]) == ""


def test_two_elements_may_keep_different_alternatives():
    two = replace(EITHER, alternatives=(np.array([1.0, -0.0, 3.0]), np.array([1.0, 2.0, np.nan])))
    assert kind([1, -0.0, np.nan], two) == ""


@pytest.mark.parametrize(
    ("values", "expected"), [([1, 0.0, 3], "value"), ([1, 2.5, 3], "value"), ([np.nan, 2, 3], "nan"), ([1, 2], "shape")]
)
def test_another_value_is_as_wrong_as_ever(values, expected):
    assert kind(values) == expected


HALVES = Want(
    "value",
    np.array([1.0, 2.0, 3.0, 4.0]),
    FLOAT,
    alternatives=(np.array([0.0, 0.0, 3.0, 4.0]), np.array([0.0, 0.5, 3.0, 4.0]), np.array([1.0, 2.0, 3.0, 5.0])),
    groups=(1, 1),
)


@pytest.mark.parametrize(
    ("values", "count"), [([1, 2, 3, 4], 0), ([0, 0, 3, 5], 0), ([0, 0.5, 3, 4], 0), ([1, 0, 3, 5], 1)]
)
def test_a_whole_alternative_holds_for_all_elements_and_another_one_for_each(values, count):
    comparison = compare(Result("value", np.array(values, np.float32)), HALVES, "output[0]")
    assert comparison.count == count


def test_a_plan_may_keep_another_whole_alternative_than_its_base():
    other = HALVES.from_other(Result("value", np.array([0, 0, 3, 4], np.float32)), HALVES)
    assert kind([1, 2, 3, 4], other) == kind([0, 0, 3, 5], other) == ""
    assert kind([1, 2, 3.5, 4], other) == "value"


def test_complex_parts_keep_the_same_alternative():
    want = Want("value", np.array([1 + 1j]), np.dtype("complex64"), alternatives=(np.array([0j]),))
    assert kind([0j], want, np.complex64) == ""
    assert kind([1 + 0j], want, np.complex64) == "value"
    want = Want("value", np.array([1 + 1j]), np.dtype("complex64"), alternatives=(np.array([1 + 0j]),))
    assert kind([1 + 0j], want, np.complex64) == ""
    assert kind([0j], want, np.complex64) == "value"


def test_a_difference_that_both_promises_allow_is_told():
    flushed = Want("value", np.array([1e-40, 2.0], FLOAT), FLOAT, alternatives=(np.array([0.0, 2.0]),), groups=(1,))
    zeros = Want("value", np.zeros(2), FLOAT, unsigned_zeros=True)
    for want, base, other, says in (
        (HALVES, [0, 0, 3, 4], [1, 2, 3, 4], "several values"),
        (flushed, [0, 2], [1e-40, 2], "subnormal"),
        (flushed, [1e-40, 2], [0, 2], "subnormal"),
        (zeros, [0.0, 0.0], [0.0, -0.0], "sign of zeros"),
    ):
        of_base = want.from_other(Result("value", np.array(base, np.float32)), want)
        alike, differs = (
            compare(Result("value", np.array(values, np.float32)), of_base, "output[0]") for values in (base, other)
        )
        assert (alike.kind, alike.undocumented, differs.kind) == ("", "", "")
        assert says in differs.undocumented
        assert "both results keep the promise, and they differ" in differs.detail
        assert differs.got != differs.want


def test_plans_may_differ_only_where_the_promise_has_several_values():
    other = EITHER.from_other(Result("value", np.array([1.5, 2, 3.5], np.float32)), EITHER)
    assert kind([1.5, 2, 3.5], other) == kind([1.5, -0.0, 3.5], other) == ""
    assert kind([1, 2, 3.5], other) == kind([1.5, 7, 3.5], other) == "value"


def test_alternatives_of_another_shape_are_the_suites_fault():
    spec = Spec(
        name="x",
        program=len,
        reference=np.floor,
        recipes={"plain": plain},
        ops="",
        alternatives={"output": lambda dtype, g, x: [x[:1]]},
    )
    (case,) = spec.cases()
    with pytest.raises(ReferenceFault, match=r"alternatives of output\[0\] of x-float32-plain have shape \(1,\)"):
        expectation(case, case.inputs(), None)


def test_a_mutant_that_is_an_alternative_is_no_mutant_and_all_others_are_killed():
    (spec,) = (spec for spec in SPECS if spec.name == "half")
    assert score(spec).alive == []


def test_a_flushed_number_is_no_mutant_where_a_zero_of_either_sign_is_right():
    spec = Spec(
        name="x",
        program=len,
        reference=lambda x: x,
        recipes={"two": lambda draw, dtype: (np.array([-1e-39, 1.0], dtype),)},
        ops="",
        alternatives={"output": lambda dtype, g, x: [np.array([-0.0, 1.0])]},
        unsigned_zeros=("output",),
    )
    assert "subnormal to 0 in output[0]" not in score(spec).possible
    assert "subnormal to 0 in output[0]" in score(replace(spec, alternatives={})).possible


def test_a_side_of_a_contract_has_alternatives_of_its_own():
    halves = {"output": lambda dtype, g, x: [x / 2]}
    side = Side(reference=np.negative, why="planted", link="https://example.org", alternatives=halves)
    spec = Spec(name="x", program=len, reference=np.floor, recipes={"plain": plain}, ops="", contract={"*/xla": side})
    (case,) = spec.cases()
    (x,) = case.inputs()
    of_side, of_spec = (expectation(case, (x,), chosen).wants["output[0]"] for chosen in (side, None))
    assert kind(x / 2, of_side) == kind(-x, of_side) == ""
    assert kind(x / 2, of_spec) == "value"
    assert spec.promise(Plan(Device.parse("cpu"), "xla")) == "*/xla"
    assert side == replace(side, alternatives={})


def test_a_side_of_a_contract_has_bounds_of_its_own():
    def allowing(size):
        return {"output": lambda u, g, x: np.full(x.shape, size)}

    side = Side(reference=np.ceil, why="documented", bound=allowing(2.0))
    fields = {"program": len, "reference": np.floor, "recipes": {"plain": plain}, "ops": ""}
    spec = Spec(name="x", **fields, bound=allowing(1.0), contract={"gpu/*": side})
    (case,) = spec.cases("float32")
    bounds = [expectation(case, case.inputs(), one).wants["output[0]"].bound for one in (None, side)]
    assert [float(bound.max()) for bound in bounds] == [1.0, 2.0]
