"""Attributes: a spec's named keyword arguments reach every function of it, and every record, program and table."""

import json
import os

import numpy as np
import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.planted_faults.mutation import score
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.repro.discrepancy import Discrepancy
from tf_opdiff.harness.repro.script import script_of
from tf_opdiff.harness.run import one_case
from tf_opdiff.harness.spec.catalog import Catalog, Item, _check_ids
from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.lists import spec_list
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case, Claim, Side, Spec, Topic
from tf_opdiff.reports.data.run_data.load import load

PLANTED = Catalog.load("tf_opdiff.harness.tests.planted_specs.planted_attrs")
EAGER = Plan(Device("cpu"), "eager")


def made(attrs, **more):
    defaults = {"name": "x", "program": lambda tf, x, *, axis=0: x, "reference": lambda x, axis=0: x, "ops": ""}
    return Spec(**defaults | {"recipes": {"plain": plain}, "attrs": attrs} | more)


def test_a_label_stands_in_the_id_and_its_keyword_arguments_in_the_case():
    cases = {case.id: dict(case.keywords) for case in PLANTED.specs["sums"].cases()}
    assert cases == {
        "sums-float32-all-small": {},
        "sums-float32-first-small": {"axis": 0},
        "sums-float32-kept-small": {"axis": 1, "keepdims": True},
    }
    assert len({case.seed for case in PLANTED.specs["sums"].cases()}) == 3


def test_a_case_without_attributes_has_the_id_that_it_always_had():
    (case,) = made({}).cases()
    assert (case.id, case.attrs, case.keywords) == ("x-float32-plain", "", {})


@pytest.mark.parametrize("label", ["", "two-words", "a/b", "a b", "é", "x" * 61])
def test_a_label_that_no_id_can_have_is_refused(label):
    with pytest.raises(ValueError, match=r"^spec x: attrs .*: expected a label that matches"):
        made({label: {}})


@pytest.mark.parametrize("value", [np.float32(1), np.arange(3), len, {1: 2}, (1, object())])
def test_a_value_without_a_literal_is_refused(value):
    with pytest.raises(ValueError, match=r"^spec x: attrs 'a': axis: expected a literal, got"):
        made({"a": {"axis": value}})


TOPIC = Topic(id="C99", title="Planted", program="x.", origin="nowhere")


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"program": lambda tf, x: x}, "program"),
        ({"program": lambda tf, x, axis, /: x}, "program"),
        ({"reference": lambda x: x}, "reference"),
        ({"second": lambda x: x}, "second"),
        ({"vjp": lambda g, x: g}, "vjp"),
        ({"jvp": lambda t, x: t}, "jvp"),
        ({"bound": {"output": lambda u, g, x: u}}, "bound of output"),
        ({"contract": {"*/xla": Side(reference=lambda x: x, why="planted")}}, "reference of the contract"),
        (
            {"claims": (Claim(topic=TOPIC, letter="a", says="So.", about=("output",), reference=lambda x: x),)},
            "reference of the claim C99a",
        ),
    ],
)
def test_a_function_that_takes_no_such_keyword_is_refused(more, word):
    with pytest.raises(ValueError, match=f"^spec x: attrs 'a': the {word} takes no keyword argument 'axis'$"):
        made({"a": {"axis": 1}}, **more)


def test_a_recipe_gets_the_keyword_arguments_that_it_has_a_parameter_for():
    def sized(draw, dtype, axis):
        return (np.zeros(axis, dtype),)

    spec = made({"two": {"axis": 2}, "three": {"axis": 3}}, recipes={"sized": sized, "plain": plain})
    shapes = {case.id: case.inputs()[0].shape for case in spec.cases()}
    assert shapes["x-float32-two-sized"] == (2,) and shapes["x-float32-three-sized"] == (3,)
    assert shapes["x-float32-two-plain"] == (67,)


def test_two_cases_of_one_id_are_refused():
    one, other = made({"int8": {}}), made({}, name="x-float32", dtypes=("int8",), recipes={"plain": plain})
    with pytest.raises(ValueError, match="case id 'x-float32-int8-plain' is that of a case of 'x' and of one of"):
        _check_ids([Item("m", one, "float32"), Item("m", other, "int8")])


@pytest.mark.parametrize("label", ["", "b"])
def test_a_case_of_a_label_that_the_spec_lacks_is_refused(label):
    with pytest.raises(ValueError, match=f"spec x: attrs '{label}': expected a"):
        Case(made({"a": {"axis": 1}}), "float32", "plain", label)


def test_reference_derivative_and_bound_get_the_keyword_arguments():
    def bound(u, g, x, axis):
        return np.full(x.shape, float(axis))

    spec = made({"three": {"axis": 3}}, reference=lambda x, axis: x * axis, vjp=lambda g, x, axis: g * axis)
    spec = made(spec.attrs, reference=spec.reference, vjp=spec.derivatives.vjp, bound={"grad": bound})
    (case,) = spec.cases()
    (x,) = inputs = case.inputs()
    promise = expectation(case, inputs, None)
    np.testing.assert_array_equal(promise.wants["output[0]"].value, 3.0 * x.astype(np.float64))
    np.testing.assert_array_equal(promise.wants["grad[0]"].value, 3.0 * promise.upstreams[0].astype(np.float64))
    assert (promise.wants["grad[0]"].bound == 3).all()
    (case,) = made({"a": {"axis": 0}}, reference=lambda x, axis: x / (1 // axis)).cases()
    with pytest.raises(ReferenceFault, match="of x-float32-a-plain failed: ZeroDivisionError"):
        expectation(case, inputs, None)


def asked(**more):
    return Request("m", "x", "c", "float32", "eager", (np.zeros(3, np.float32),), None, ("output[0]",), **more).digest


def test_other_keyword_arguments_are_another_request():
    assert len({asked(), asked(attrs={"axis": 1}), asked(attrs={"axis": 2}), asked(attrs={"keepdims": 1})}) == 4
    assert asked() == asked(attrs={}) and asked(attrs={"a": 1, "b": 2}) == asked(attrs={"b": 2, "a": 1})


def test_a_run_that_is_not_repeated_is_the_same_request_whether_its_inputs_are_checked_or_not():
    assert asked() == asked(again=("input_mutated",)) != asked(again=("input_mutated", "nondeterministic"))


def test_the_score_covers_each_label():
    spec = PLANTED.specs["sums"]
    whole = score(spec)
    rooms = {f"half of the digits of an element of {case.id} in output[0]" for case in spec.cases()}
    assert whole.alive == [] and len(rooms) == 3 and rooms <= whole.possible


def test_a_program_of_a_finding_calls_with_the_keyword_arguments():
    case = next(case for case in PLANTED.specs["sums"].cases() if case.attrs == "kept")
    program = script_of(Discrepancy(case, EAGER, "output[0]", "numpy", "value", case.inputs()), "2.21.0")
    assert "listed(program(tf, *xs, axis=1, keepdims=True))" in program
    case = next(case for case in PLANTED.specs["counts-from"].cases() if case.attrs == "two")
    program = script_of(Discrepancy(case, EAGER, "output[0]", "numpy", "value", case.inputs()), "2.21.0")
    assert "make_state(tf, *inputs, start=2.0)" in program
    assert "listed(program(tf, state, *xs, start=2.0))" in program


def test_the_list_of_specs_has_labels_and_keyword_arguments():
    lines = [line.strip() for line in spec_list.lines(PLANTED)]
    assert {"attrs all: no keyword arguments", "attrs kept: axis=1, keepdims=True"} <= set(lines)


def test_a_sweep_has_cases_of_each_label():
    sweeps = [case.id for item in PLANTED.items if item.spec.name == "scaled" for case in item.sweeps]
    assert sweeps == [f"scaled-float16-{a}-{s}" for a in ("double", "minus") for s in ("sweep", "sweep_subnormal")]


@pytest.fixture(scope="module")
def outcome(run_pytest):
    return run_pytest("--device", "cpu", suites="tf_opdiff.harness.tests.planted_specs.planted_attrs")


def test_each_label_is_run_with_its_keyword_arguments_in_every_mode(outcome):
    records = [r for r in outcome.merged.records if r.spec in ("sums", "counts-from", "scaled")]
    assert {r.verdict for r in records} == {"match"}
    cells = {(r.attrs, r.mode) for r in records if r.spec == "sums"}
    assert cells == {(a, m) for a in ("all", "first", "kept") for m in ("eager", "function", "xla", "graph")}
    sizes = {(r.attrs, r.size) for r in records if r.spec == "sums" and r.quantity == "output[0]"}
    assert sizes == {("all", 1), ("first", 5), ("kept", 3)}


def test_a_wrong_promise_for_one_label_is_found_and_its_records_say_which(outcome):
    wrong = [r for r in outcome.merged.records if r.failing]
    assert outcome.status == 1
    assert {(r.spec, r.attrs) for r in wrong} == {("sums-wrong-once", "kept"), ("scaled-wrong-once", "minus")}
    assert {(r.case, r.kind) for r in wrong if r.spec == "sums-wrong-once"} == {
        ("sums-wrong-once-float32-kept-small", "shape")
    }
    frame = load(outcome.directory)
    assert set(frame[frame["verdict"] == "mismatch"]["attrs"].astype(str)) == {"kept", "minus"}


def test_the_program_of_a_finding_reproduces(outcome):
    programs = json.loads((outcome.directory / "repro.json").read_text())
    assert {p["spec"]: p["status"] for p in programs} == dict.fromkeys(
        ("sums-wrong-once", "scaled-wrong-once"), "reproduced"
    )


def test_a_sweep_finds_the_wrong_label_and_its_rerun_names_it(tmp_path, capsys):
    options = [
        "--suites",
        "tf_opdiff.harness.tests.planted_specs.planted_attrs",
        "--known",
        os.devnull,
        "--device",
        "cpu",
    ]
    assert main(["sweep", "scaled-wrong-once", *options, "--run-dir", str(tmp_path / "all")]) == 1
    reruns = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  rerun: ")]
    assert reruns and all("sweep scaled-wrong-once --dtype float16 --attrs minus " in line for line in reruns)
    one = [*options, "--attrs", "double", "--run-dir", str(tmp_path / "one")]
    assert main(["sweep", "scaled-wrong-once", *one]) == 0
    assert main(["sweep", "scaled-wrong-once", *options, "--attrs", "third"]) == 4
    assert "no attrs of scaled-wrong-once 'third'; there is double, minus" in capsys.readouterr().err


def test_one_case_can_be_printed(monkeypatch, capsys):
    monkeypatch.setattr(one_case, "SUITES", "tf_opdiff.harness.tests.planted_specs.planted_attrs")
    assert main(["repro", "sums-wrong-once-float32-kept-small", "--plan", "cpu/eager"]) == 1
    assert "output[0]: shape" in capsys.readouterr().out


def test_an_entry_of_known_failures_may_select_a_label(tmp_path):
    place = {"spec": "sums", "dtype": "float32", "recipe": "small", "device": "cpu", "mode": "eager"}
    evidence = 'reason = "It is planted for this test."\nmeasured = "by this test, on no machine at all"\n'
    words = 'title = "A planted failure"\nseverity = "accuracy: planted for this test"\n'
    entries = 'entries = [{spec = "sums", attrs = "kept", kind = "value"}]\n'
    cause = f'[cause.planted]\nowner = "us"\n{words}{evidence}{entries}'
    (tmp_path / "math.toml").write_text(cause)
    (entry,) = known_files.load(tmp_path, PLANTED).entries
    assert [entry.selects(place | {"attrs": label}, "2.21.0") for label in ("all", "kept")] == [False, True]
    (tmp_path / "math.toml").write_text(cause.replace('"kept"', '"last"'))
    with pytest.raises(known_files.KnownError, match="no attrs 'last'; there is all, first, kept"):
        known_files.load(tmp_path, PLANTED)
