"""Rows that depend on their batch, planted in real TensorFlow programs, are found; sound ones are not."""

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.device.repeat import ROW_CHECKS
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.device.rows import alone, beside_special, compared_rows, run_row_checks
from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.spec.plan import MODES


@pytest.fixture(scope="module")
def records(run_module):
    return run_module("tf_opdiff.harness.tests.planted_specs.planted_rows", MODES, ("float32",))


def itself(records, spec):
    """The verdict and the kind of each record of a spec against itself, by mode and quantity."""
    own = (r for r in records if r.spec == spec and r.against == r.plan)
    return {(r.mode, r.quantity): (r.verdict, r.kind) for r in own}


def test_sound_rows_match_in_every_mode(records):
    found = itself(records, "rows")
    assert set(found) == {(mode, quantity) for mode in MODES for quantity in ("output[0]", "grad[0]")}
    assert set(found.values()) == {("match", "")}


@pytest.mark.parametrize("row", [0, 2, 4])
def test_a_first_middle_or_last_row_that_depends_on_the_size_of_the_batch_is_found(records, row):
    found = itself(records, f"rows-by-size-{row}")
    assert {v for (_, quantity), v in found.items() if quantity == "output[0]"} == {("mismatch", "batch")}
    assert {v for (_, quantity), v in found.items() if quantity == "grad[0]"} == {("match", "")}
    places = {r.worst_index for r in records if r.spec == f"rows-by-size-{row}" and r.kind == "batch"}
    assert places == {f"[{row}]"}


def test_a_row_within_the_budget_is_a_match_that_says_that_its_bits_differ(records):
    own = [r for r in records if r.spec == "rows-1-ulp" and r.against == r.plan]
    assert {(r.verdict, r.max_ulp, r.budget) for r in own} == {("match", 1.0, 2.0)}
    assert all("other bits in another batch" in r.detail for r in own)


def test_a_row_beyond_the_budget_is_a_finding(records):
    own = [r for r in records if r.spec == "rows-3-ulp" and r.against == r.plan]
    assert {(r.verdict, r.kind, r.max_ulp) for r in own} == {("mismatch", "batch", 3.0)}


def test_a_nan_that_reaches_another_row_is_a_leak_of_the_output(records):
    found = itself(records, "rows-leaking")
    assert {v for (_, quantity), v in found.items() if quantity == "output[0]"} == {("mismatch", "leak")}


def test_a_nan_that_reaches_the_gradient_of_another_row_is_a_leak_of_the_gradient(records):
    found = itself(records, "rows-leaking-gradient")
    assert {v for (_, quantity), v in found.items() if quantity == "grad[0]"} == {("mismatch", "leak")}
    assert {v for (_, quantity), v in found.items() if quantity == "output[0]"} == {("match", "")}


def test_a_gradient_by_an_input_that_all_rows_share_is_not_compared(records):
    assert set(itself(records, "rows-with-factors").values()) == {("match", "")}


def test_an_output_without_rows_is_a_finding(records):
    assert ("mismatch", "batch") in itself(records, "rows-without-batch").values()


def test_the_message_says_what_the_row_depends_on(records):
    record = next(r for r in records if r.kind == "leak" and r.quantity == "output[0]")
    assert "NaN or infinities in other rows change the result of a row" in sentence(record)
    record = next(r for r in records if r.kind == "batch" and r.spec == "rows-3-ulp")
    assert "the result of a row depends on the size of its batch" in sentence(record)
    assert "when the row is alone" in sentence(record)


@pytest.mark.parametrize(("count", "rows"), [(2, (0, 1)), (3, (0, 1, 2)), (8, (0, 4, 7)), (32, (0, 16, 31))])
def test_the_first_a_middle_and_the_last_row_are_compared(count, rows):
    assert compared_rows(count) == rows


def test_a_row_alone_keeps_shared_inputs_whole_and_has_its_own_upstream():
    arguments = Arguments([np.arange(6.0).reshape(3, 2), np.ones(4)], [np.arange(3.0), None], [np.ones(1)])
    row = alone(arguments, (1,), 2)
    assert [x.tolist() for x in row.inputs] == [[[4.0, 5.0]], [1.0] * 4]
    assert row.upstreams[0].tolist() == [2.0] and row.upstreams[1] is None and row.tangents is None


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_other_rows_become_special_and_the_row_stays(dtype):
    x, indices = np.ones((5, 2), dtype), np.arange(5)
    arguments = Arguments([x, indices, np.ones(3, dtype)], [np.ones(5, dtype)])
    beside = beside_special(arguments, (2,), 1)
    assert not np.isfinite(np.delete(beside.inputs[0], 1, 0)).any()
    assert beside.inputs[0][1].tolist() == [1, 1]
    assert (
        beside.inputs[1] is indices and np.isfinite(beside.inputs[2]).all() and np.isfinite(beside.upstreams[0]).all()
    )


@pytest.mark.parametrize(("code", "kinds"), [("INVALID_ARGUMENT", {"batch"}), ("INTERNAL", {"batch", "leak"})])
def test_only_a_refusal_of_special_rows_is_no_leak(code, kinds):
    error = Result("error", code=code)
    arguments, results = Arguments([np.ones((3, 2))]), {"output[0]": Result("value", np.ones(3))}
    found = run_row_checks(ROW_CHECKS, (), arguments, results, lambda *_: ({}, error))
    assert {kind for kind, by_quantity in found.items() if by_quantity} == kinds
