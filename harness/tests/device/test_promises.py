"""Fields of a spec that widen its promise or change what a run fetches, on real TensorFlow."""

import pytest

from tf_opdiff.harness.spec.plan import MODES


@pytest.fixture(scope="module")
def records(run_module):
    """The records of all planted specs, by the name of the spec."""
    by_spec = {}
    for record in run_module("tf_opdiff.harness.tests.planted_specs.planted_promises"):
        by_spec.setdefault(record.spec, []).append(record)
    return by_spec


def wrong(records):
    return {(r.mode, r.dtype, r.recipe, r.quantity, r.kind) for r in records if r.verdict != "match"}


def test_subnormals_may_be_flushed_or_not_in_every_mode(records):
    assert not wrong(records["half"])
    assert not wrong(records["half-of-normal"])


def test_a_subnormal_with_another_result_is_red(records):
    failures = wrong(r for r in records["half-but-twice"] if r.dtype == "float32" and r.against == "numpy")
    assert {(mode, kind) for mode, _, recipe, _, kind in failures if recipe == "specials"} == {
        (mode, "value") for mode in MODES
    }


def test_special_upstreams_reach_the_gradient(records):
    failures = wrong(r for r in records["half-without-infinite-upstreams"] if r.against == "numpy")
    assert {(recipe, quantity, kind) for _, _, recipe, quantity, kind in failures} == {("specials", "grad[0]", "inf")}
    assert {mode for mode, *_ in failures} == set(MODES)


def test_gradients_alone_are_fetched_without_the_forward_op(records):
    assert not wrong(records["square-gradient-alone"])
    assert {(r.mode, r.quantity) for r in records["square-gradient-alone"]} == {
        (mode, "grad[0]") for mode in ("function", "xla", "graph")
    }
    pruned = {(r.mode, r.verdict) for r in records["square-that-runs-gradient-alone"] if r.mode != "xla"}
    assert pruned == {("function", "error"), ("graph", "error")}
    assert all("no Square" in r.detail for r in records["square-that-runs-gradient-alone"] if r.verdict == "error")


def test_a_wrong_gradient_alone_is_red(records):
    failures = wrong(r for r in records["square-half-gradient-alone"] if r.against == "numpy")
    assert {(mode, quantity) for mode, _, _, quantity, _ in failures} == {
        (mode, "grad[0]") for mode in ("function", "xla", "graph")
    }


@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        ("square-of-both-orders", ()),
        ("square-without-jvp", ("jvp",)),
        ("square-without-hvp", ("hvp",)),
        ("square-without-both", ("jvp", "hvp")),
    ],
)
def test_forward_mode_and_second_order_are_refused_each_on_its_own(records, spec, refused):
    against = [record for record in records[spec] if record.against == "numpy"]
    assert {r.quantity for r in against} == {"output[0]", "grad[0]", "jvp[0]", "hvp[0]"}
    assert wrong(against) == {(m, "float32", "plain", f"{f}[0]", "status") for m in MODES for f in refused}
    assert all(f"no {r.quantity[:3]}" in r.detail for r in against if r.verdict != "match")


def test_an_output_that_is_no_float_has_no_forward_mode_in_any_mode(records):
    assert not wrong(records["square-and-whether-positive"])
    assert {(r.mode, r.quantity) for r in records["square-and-whether-positive"]} >= {(m, "jvp[1]") for m in MODES}


def test_unknown_sizes_give_one_program_for_all_shapes_and_no_static_shape(records):
    assert not wrong(records["square-of-any-size-unknown-shape"])
    assert {r.size for r in records["square-of-any-size-unknown-shape"]} == {0, 1, 5}
    assert not wrong(records["square-and-one-unknown-shape"])
