"""Elements at the edge of the normal numbers do not decide the severity, and the example has the severity told."""

import ml_dtypes
import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.differences.compare import compare, compare_arrays
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Origin, Trial
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Spec

TINY = np.finfo(np.float32).smallest_normal
ULP = np.float32(2.0**-23)


def record(x, got, want, *, quantity="output[0]"):
    """The record of a result for the input x; nobody has explained it."""
    x, got = np.asarray(x), np.asarray(got)
    spec = Spec(
        name="x", program=lambda tf, x: x, reference=lambda x: x, ops="", dtypes=(got.dtype.name,),
        recipes={"r": lambda draw, d: (x,)},
    )  # fmt: skip
    (case, *_) = spec.cases()
    trial = Trial("s", case, Plan(Device("cpu"), "eager"), Observation({quantity: Result("value", got)}), (x,))
    judge = Judge(Context(run="r", started="s", here=Origin("2.21.0"), known=Known()))
    (row,) = judge.against_promises(trial, {quantity: Want("value", np.asarray(want), got.dtype)})
    return row


def float32(*numbers):
    return np.array(numbers, np.float32)


ONE_OFF = 1 - ULP  # two ULPs of the numbers below 1


def test_a_flushed_smallest_normal_number_does_not_make_a_rounding_a_wrong_value():
    row = record(float32(3, 2, TINY), float32(ONE_OFF, 2, 0), float32(1, 2, TINY).astype(np.float64))
    assert (row.verdict, row.kind, row.severity, row.mismatched) == ("mismatch", "value", "accuracy", 2)
    assert row.example == "input 3.0, got 0.9999999, want 1.0"
    assert (row.worst_index, row.distance) == ("[0]", "1 ULP, 0 allowed")
    assert row.max_ulp == 2.0**23  # the record has the largest distance, and says where it is from
    assert row.detail == "1 more element differs next to the smallest normal number, by a relative error of 1 at worst."


@pytest.mark.parametrize(
    ("x", "got", "want"),
    [
        (5, 0, TINY),
        (5, 0, np.nextafter(TINY, np.float32(1))),
        (5, TINY, 0),
        (5, 1e-40, TINY),
        (TINY, 0, 1),
        (-1e-40, 7, 1),
    ],
)
def test_where_elements_at_the_edge_alone_differ_the_special_value_is_wrong(x, got, want):
    row = record(float32(x), float32(got), np.array([want], np.float64))
    assert (row.severity, row.kind, row.detail) == ("special_value", "value", "")
    assert row.example


@pytest.mark.parametrize(("x", "got", "want"), [(5, 1, TINY), (5, 3 * TINY, TINY), (0, 1, 2), (5, 0, 1e-30)])
def test_an_ordinary_input_with_a_wrong_result_is_a_wrong_value(x, got, want):
    assert record(float32(x), float32(got), np.array([want], np.float64)).severity == "wrong_value"
    assert record(float32(x), float32(got, 1), np.array([want, 1], np.float64), quantity="grad[0]").severity in (
        "wrong_gradient",
        "wrong_value",
    )


def test_the_example_has_the_severity_that_is_told():
    row = record(float32(1, 2, 3.25), float32(ONE_OFF, 1, 9), float32(1, 1, 4).astype(np.float64))
    assert (row.severity, row.example) == ("wrong_value", "input 3.25, got 9.0, want 4.0")


def test_a_gradient_of_zeros_where_all_is_at_the_edge_is_a_wrong_special_value():
    zeros, tiny = float32(0, 0), float32(TINY, 1e-40).astype(np.float64)
    row = record(float32(1, 2), zeros, tiny, quantity="grad[0]")
    assert (row.kind, row.severity) == ("gradient_status", "special_value")
    row = record(float32(1, 2), zeros, tiny + np.array([0, 1]), quantity="grad[0]")
    assert (row.kind, row.severity) == ("gradient_status", "wrong_gradient")


def test_each_part_of_a_complex_number_has_an_edge_of_its_own():
    want = np.array([complex(TINY, 1)], np.complex128)
    both = compare_arrays(np.array([complex(0, ONE_OFF)], np.complex64), want, np.dtype("complex64"))
    assert (both.counted_ulp, both.at_edge) == (1, False)
    edge = compare_arrays(np.array([1j], np.complex64), want, np.dtype("complex64"))
    assert edge.at_edge
    x = (np.array([complex(1, TINY)], np.complex64),)
    assert compare_arrays(np.array([3j], np.complex64), want, np.dtype("complex64"), inputs=x).at_edge


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "float8_e5m2"])
def test_the_edge_is_that_of_the_dtype(dtype):
    tiny = ml_dtypes.finfo(np.dtype(dtype)).smallest_normal
    want = np.array([1.0, float(tiny)])
    found = compare(Result("value", np.array([1, 0], dtype)), Want("value", want, np.dtype(dtype)), "output[0]")
    assert (found.kind, found.at_edge) == ("value", True)
