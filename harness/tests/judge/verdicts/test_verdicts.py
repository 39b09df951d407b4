"""Planted wrong results are seen for what they are, on real TensorFlow."""

import numpy as np
import pytest

from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry


def verdicts(records, against="numpy"):
    return {(r.mode, r.quantity): (r.verdict, r.kind) for r in records if r.against == against}


def against_others(records):
    return [r for r in records if r.against != f"{r.device}/{r.mode}"]


def test_a_right_op_matches_numpy_and_every_other_plan(run_spec):
    records = run_spec("right", devices=("cpu", "cpu:1"))
    assert {r.verdict for r in records} == {"match"}
    assert {r.against for r in against_others(records)} == {"numpy", "cpu/eager"}
    assert {(r.device, r.ran_on) for r in records} == {("cpu", "CPU:0"), ("cpu:1", "CPU:1")}
    assert {r.raw_op for r in records} == {"Floor"}


def test_one_ulp_is_a_mismatch_where_the_spec_gives_no_budget(run_spec):
    for record in run_spec("one-ulp-off"):
        if record.against == "numpy":
            assert (record.verdict, record.kind, record.budget) == ("mismatch", "value", 0)
            assert 0 < record.max_ulp <= 1
            assert record.input
            assert record.worst_index


@pytest.mark.parametrize("spec", ["zero-gradient", "dropped-gradient"])
def test_an_unconnected_gradient_is_not_zeros_and_not_a_value(run_spec, spec):
    found = verdicts(run_spec(spec))
    assert {v for (_, q), v in found.items() if q == "grad[0]"} == {("mismatch", "gradient_status")}
    assert {v for (_, q), v in found.items() if q == "output[0]"} == {("match", "")}


@pytest.mark.parametrize(("spec", "kind"), [("wrong-dtype", "dtype"), ("wrong-shape", "shape")])
def test_nothing_is_cast_or_broadcast_before_comparing(run_spec, spec, kind):
    assert set(verdicts(run_spec(spec)).values()) == {("mismatch", kind)}


def test_an_op_that_is_not_in_the_graph_is_the_suites_own_fault(run_spec):
    records = run_spec("other-op")
    assert {r.verdict for r in records if r.against == "numpy"} == {"error"}
    assert all("no Floor" in r.detail for r in records if r.against == "numpy")


def test_an_output_computed_while_the_graph_was_built_is_the_suites_own_fault(run_spec):
    (record,) = against_others(run_spec("folded", modes=("function",)))
    assert record.verdict == "error"
    assert "depends on no input" in record.detail


def test_an_absent_device_inside_a_program_is_an_error_not_a_fallback(run_spec):
    records = [r for r in run_spec("falls-back", modes=("eager", "function", "graph")) if r.against == "numpy"]
    assert {(r.verdict, r.kind) for r in records} == {("mismatch", "status")}
    assert all("GPU:0" in r.detail for r in records)


@pytest.mark.parametrize("mode", ["eager", "function", "graph"])
def test_an_op_that_ran_on_another_device_than_planned_proves_nothing(run_spec, mode):
    records = run_spec("elsewhere", devices=("cpu:1",), modes=(mode,))
    assert {r.verdict for r in records} == {"error"}
    assert all("CPU:0" in r.detail and "CPU:1" in r.detail for r in records)


def test_where_an_op_ran_that_the_optimiser_removed_is_told_by_the_rest_of_its_graph(run_spec):
    (record,) = against_others(run_spec("optimised-away", devices=("cpu:1",), modes=("graph",)))
    assert (record.verdict, record.ran_on) == ("match", "CPU:1")


def test_a_reference_that_fails_is_the_suites_own_fault(run_spec):
    records = run_spec("broken-reference")
    assert {(r.verdict, r.kind) for r in records} == {("error", "reference")}
    assert all("ZeroDivisionError" in r.detail for r in records)


def test_two_references_that_disagree_accuse_the_reference(run_spec):
    records = run_spec("suspect-reference")
    assert {(r.verdict, r.kind) for r in records} == {("error", "reference")}
    assert all("reference suspect" in r.detail for r in records)


def test_a_kernel_that_is_not_registered_is_unavailable_and_says_which(run_spec):
    found = {(r.mode, r.verdict) for r in run_spec("no-bfloat16-kernel")}
    assert found == {("eager", "unavailable"), ("function", "unavailable"), ("graph", "unavailable"), ("xla", "match")}


def test_each_side_of_a_contract_is_checked(run_spec):
    assert {v for v, _ in verdicts(run_spec("both-sides", modes=("eager",))).values()} == {"contract"}
    assert {v for v, _ in verdicts(run_spec("both-sides", modes=("function", "graph"))).values()} == {"match"}
    assert verdicts(run_spec("side-given-up", modes=("eager",))) == {("eager", "output[0]"): ("mismatch", "status")}


CAUSE = Cause(id="planted", owner="us", reason="planted for the tests")
KNOWN = {"spec": "one-ulp-off", "kind": "value", "cause": CAUSE}


def judged(run_spec, spec="one-ulp-off", **entry):
    (record,) = against_others(run_spec(spec, modes=("eager",), known=[Entry(**KNOWN | entry)]))
    return record.verdict, record.detail


def test_a_known_failure_for_its_recorded_reason_is_known(run_spec):
    assert judged(run_spec)[0] == "known"


def test_a_known_failure_for_another_reason_is_a_mismatch(run_spec):
    verdict, detail = judged(run_spec, kind="nan")
    assert verdict == "mismatch"
    assert "entry 1 of known.toml expects nan here" in detail


def test_a_known_failure_that_no_longer_fails_is_stale_and_says_what_to_delete(run_spec):
    found = against_others(run_spec("right", modes=("eager",), known=[Entry(**KNOWN | {"spec": "right"})]))
    assert {r.verdict for r in found} == {"stale"}
    assert all("delete or narrow entry 1" in r.detail for r in found)


def test_two_plans_that_are_known_to_fail_alike_make_no_entry_stale(run_spec):
    modes = ("function", "xla")
    found = against_others(run_spec("one-ulp-off", modes=modes, known=[Entry(**KNOWN)]))
    assert {(r.mode, r.against, r.verdict) for r in found} == {
        ("function", "numpy", "known"),
        ("xla", "numpy", "known"),
        ("xla", "cpu/function", "match"),
    }


def test_two_plans_that_are_known_to_fail_differently_need_no_entry_for_their_difference(run_spec):
    place = KNOWN | {"spec": "wrong-either-way"}
    known = [Entry(**place | {"mode": "eager", "kind": "nan"}), Entry(**place | {"mode": "function"})]
    found = against_others(run_spec("wrong-either-way", modes=("eager", "function"), known=known))
    assert {(r.mode, r.against, r.kind, r.verdict) for r in found} == {
        ("eager", "numpy", "nan", "known"),
        ("function", "numpy", "value", "known"),
        ("function", "cpu/eager", "nan", "known"),
    }


def test_the_plan_that_agrees_with_numpy_is_not_the_outlier(run_spec):
    found = [r for r in against_others(run_spec("wrong-in-eager")) if r.against != "numpy"]
    assert {r.against for r in found} == {"cpu/function"}
    assert {r.mode for r in found if r.kind} == {"eager"}


@pytest.mark.parametrize("elsewhere", [{"tf": "<2.21"}, {"mode": "xla"}, {"device": "gpu"}, {"quantity": "grad[0]"}])
def test_a_known_failure_holds_in_its_recorded_place_only(run_spec, elsewhere):
    assert judged(run_spec, **elsewhere)[0] == "mismatch"


def test_a_contract_that_is_kept_shows_an_element_that_tells_the_two_sides_apart(run_spec):
    (record,) = (r for r in run_spec("both-sides", modes=("eager",)) if r.against == "numpy")
    x, got, want = (float(text) for text in (record.input, record.got, record.want))
    assert (record.verdict, got, want) == ("contract", np.floor(x) + 1, np.floor(x) + 1)
    assert sentence(record).endswith(f"input {record.input}, got {record.got}, want {record.want}. planted")


def test_the_sentence_of_a_failure_has_the_simplest_input_and_then_the_worst(run_spec):
    record = next(r for r in run_spec("wrong-in-eager", modes=("eager",)) if r.kind == "value")
    simplest, _, worst = sentence(record).partition("; worst at ")
    assert f"at {record.example_index}: {record.example}" in simplest
    if record.example_index != record.worst_index:
        assert worst.endswith(f"({record.distance})")
