"""What a program gives beyond its promise, or without its inputs, is red in every mode, on real TensorFlow."""

import sys

import pytest

from tf_opdiff.harness.spec.plan import MODES


def wrong(records, against="numpy"):
    """(mode, quantity) → (verdict, kind) of what is not as promised."""
    found = [r for r in records if r.verdict != "match" and (r.against == "numpy") == (against == "numpy")]
    return {(r.mode, r.quantity): (r.verdict, r.kind) for r in found}


def everywhere(quantity, verdict="mismatch", kind="status", modes=MODES):
    return {(mode, quantity): (verdict, kind) for mode in modes}


def test_an_output_more_than_promised_is_a_mismatch_in_every_mode(run_spec):
    records = run_spec("gives-two")
    assert wrong(records) == everywhere("output[1]")
    assert {r.want for r in records if r.quantity == "output[1]" and r.against == "numpy"} == {"nothing"}


def test_an_output_more_than_another_plan_gives_is_a_mismatch_with_that_too(run_spec):
    records = run_spec("gives-two-in-eager", modes=("eager", "function"))
    assert wrong(records) == everywhere("output[1]", modes=("eager",))
    assert wrong(records, "plans") == everywhere("output[1]", modes=("eager",))


def test_an_output_fewer_than_promised_is_a_mismatch_in_every_mode(run_spec):
    assert wrong(run_spec("gives-one")) == everywhere("output[1]")


def test_a_variable_that_changes_without_a_promise_is_a_mismatch_in_every_mode(run_spec):
    records = run_spec("counts")
    assert wrong(records) == everywhere("output[1]")
    details = {r.detail for r in records if r.quantity == "output[1]" and r.against == "numpy"}
    assert details == {"the run changed the state 'calls'"}


def test_a_variable_that_changes_as_promised_matches(run_spec):
    assert wrong(run_spec("counts-as-promised")) == {}


@pytest.mark.parametrize(
    ("spec", "says"), [("promises-nothing", "promises nothing"), ("calls-tensorflow", "may not import tensorflow")]
)
def test_a_reference_without_a_promise_of_its_own_is_a_fault_in_every_mode(run_spec, spec, says):
    records = run_spec(spec)
    assert {r.mode: (r.verdict, r.kind) for r in records} == dict.fromkeys(MODES, ("error", "reference"))
    assert all(says in r.detail for r in records)
    assert "tensorflow" not in sys.modules


def test_an_output_that_ignores_its_inputs_is_a_fault_in_every_mode(run_spec):
    records = [r for r in run_spec("folded") if r.against == "numpy"]
    assert {r.mode: r.verdict for r in records} == dict.fromkeys(MODES, "error")
    assert all("output[0] depends on no input" in r.detail for r in records)


def test_an_output_that_tells_a_shape_is_a_fault_unless_its_spec_means_it(run_spec):
    found = {r.mode: r.detail for r in run_spec("tells-its-shape", modes=("function", "xla", "graph")) if r.kind}
    assert set(found) == {"function", "xla", "graph"}
    assert all("output[1] depends on no input" in detail for detail in found.values())
    assert wrong(run_spec("means-its-shape")) == wrong(run_spec("zeros-like")) == {}


@pytest.mark.parametrize("spec", ["stops", "right", "zero-gradient", "floors-in-python"])
def test_python_between_and_gradients_that_stop_ignore_nothing(run_spec, spec):
    assert not [r for r in run_spec(spec) if "depends on no input" in r.detail]
