"""Runs that are not the same again, planted in real TensorFlow programs, are seen for what they are."""

import numpy as np
import pytest

from tf_opdiff.harness.device.repeat import PIECES, cut, differing, sizes
from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry


def against_itself(records):
    return {(r.mode, r.quantity): (r.verdict, r.kind) for r in records if r.against == f"{r.device}/{r.mode}"}


def test_a_sound_op_is_the_same_again_in_every_mode(run_spec):
    found = against_itself(run_spec("sound"))
    assert {mode for mode, _ in found} == {"eager", "function", "xla", "graph"}
    assert {quantity for _, quantity in found} == {"output[0]", "grad[0]"}
    assert set(found.values()) == {("match", "")}


def test_an_output_that_differs_between_two_runs_is_nondeterministic(run_spec):
    found = against_itself(run_spec("drifts"))
    assert set(found) == {(mode, "output[0]") for mode in ("eager", "function", "graph")}
    assert set(found.values()) == {("mismatch", "nondeterministic")}


@pytest.mark.parametrize("spec", ["writes-to-its-input", "writes-to-its-input-with-state"])
def test_an_op_that_writes_to_its_input_is_caught_with_the_element(run_spec, spec):
    records = [r for r in run_spec(spec) if r.kind == "input_mutated"]
    assert {r.mode for r in records} == {"eager", "function", "graph"}
    assert {(r.worst_index, r.got, r.detail) for r in records} == {("[3]", "9.5", "input[0] changed")}


def test_a_value_that_depends_on_the_length_of_its_vector_is_a_matter_of_position(run_spec):
    found = against_itself(run_spec("by-length"))
    assert set(found.values()) == {("mismatch", "position")}
    assert {quantity for _, quantity in found} == {"output[0]", "grad[0]"}


def test_a_position_within_the_budget_is_a_match_that_records_the_distance(run_spec):
    records = [r for r in run_spec("by-length-1-ulp") if r.against == r.plan]
    assert {(r.verdict, r.kind, r.max_ulp, r.budget) for r in records} == {("match", "", 1.0, 2.0)}


def test_a_position_beyond_the_budget_is_a_finding(run_spec):
    records = [r for r in run_spec("by-length-3-ulp") if r.against == r.plan]
    assert {(r.verdict, r.kind, r.max_ulp, r.budget) for r in records} == {("mismatch", "position", 3.0, 2.0)}


CAUSE = Cause(id="planted", owner="us", reason="planted for the tests")
POSITION = {"spec": "by-length", "kind": "position", "cause": CAUSE}


def test_a_known_matter_of_position_is_known_and_says_nothing_of_values(run_spec):
    records = run_spec("by-length", known=[Entry(**POSITION)])
    assert {r.verdict for r in records if r.against == f"{r.device}/{r.mode}"} == {"known"}
    assert {r.verdict for r in records if r.against != f"{r.device}/{r.mode}"} == {"match"}


def test_a_known_matter_of_position_that_is_gone_is_stale(run_spec):
    found = against_itself(run_spec("sound", known=[Entry(**POSITION | {"spec": "sound"})]))
    assert {verdict for verdict, _ in found.values()} == {"stale"}


def test_a_known_wrong_value_is_not_expected_of_a_run_against_itself(run_spec):
    entry = Entry(spec="one-ulp-off", kind="value", cause=CAUSE)
    found = against_itself(run_spec("one-ulp-off", known=[entry]))
    assert set(found.values()) == {("match", "")}


def test_forward_mode_and_second_order_are_compared_in_every_mode(run_spec):
    records = run_spec("cube")
    assert {(r.mode, r.quantity) for r in records if r.quantity.startswith(("jvp", "hvp"))} == {
        (mode, quantity) for mode in ("eager", "function", "xla", "graph") for quantity in ("jvp[0]", "hvp[0]")
    }
    assert {r.verdict for r in records} == {"match"}


def test_a_gradient_whose_own_gradient_is_wrong_fails_in_second_order_alone(run_spec):
    found = {r.quantity: (r.verdict, r.kind) for r in run_spec("wrong-forward") if r.against == "numpy"}
    assert found["output[0]"] == found["grad[0]"] == ("match", "")
    assert found["hvp[0]"] == ("mismatch", "value")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "int8"])
def test_every_bit_counts_but_those_of_a_nan(dtype):
    import ml_dtypes  # noqa: F401  the name bfloat16

    one = np.array([0, 1, 3], dtype)
    assert not differing(one, one).any()
    assert differing(one, one[::-1]).tolist() == [True, False, True]
    if dtype not in ("int8", "complex64"):
        zeros, nans = np.zeros(2, dtype), np.full(2, np.nan, dtype)
        assert differing(zeros, -zeros).all()
        assert not differing(nans, -nans).any()


def test_the_pieces_hold_each_value_in_order_and_none_of_an_output_without_upstream():
    size = sum(int(np.prod(shape)) for shape in PIECES)
    x = np.arange(size)
    pieces = cut([x, None])
    assert [p.shape for p in pieces[::2]] == list(PIECES)
    assert np.concatenate([p.ravel() for p in pieces[::2]]).tolist() == x.tolist()
    assert set(pieces[1::2]) == {None}


@pytest.mark.parametrize(("place", "size", "counts"), [(0, 200, [1]), (3, 200, [3]), (60, 200, [17]), (150, 200, [35])])
def test_the_pieces_that_hold_a_value_are_known(place, size, counts):
    assert sizes(place, size) == counts
    joined = np.concatenate([np.full(np.prod(shape), i) for i, shape in enumerate(PIECES)])
    held = {int(np.prod(PIECES[joined[k]])) for k in range(joined.size) if k % size == place}
    assert held == set(counts)


def test_a_matter_of_position_is_not_told_as_if_it_were_chance(run_spec):
    record = next(r for r in run_spec("by-length", modes=("eager",)) if r.kind == "position")
    said = sentence(record)
    assert "the value depends on its position in the tensor" in said and "run again" not in said
    assert f"input {record.input}, got {record.got} in a smaller tensor, want {record.want} as in the whole one" in said
    assert record.detail.startswith("the smaller tensor has ")
