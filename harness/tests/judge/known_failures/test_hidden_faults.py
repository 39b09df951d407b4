"""Known failures hide nothing: elements outside of their region, farther off, or beside a failing plan are judged."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Difference, Entry
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.known_failures.region import Region
from tf_opdiff.harness.judge.planted_faults.unseen import first_of_place, plant
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Origin, Trial, comparisons
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Spec

EAGER, XLA = (Plan(Device("cpu"), mode) for mode in ("eager", "xla"))
#: The op is the identity. It is known to double numbers above 100 and to lose NaN.
X = np.array([1, 2, 3, 200, np.nan], np.float32)
GOT = np.array([1, 2, 3, 400, 0], np.float32)
CAUSE = Cause(id="doubles", owner="us", reason="planted for these tests", severity="wrong_value")
NAN = Entry(spec="x", kind="nan", cause=CAUSE, where="nan(x)")
LARGE = Entry(spec="x", kind="value", cause=CAUSE, where="x > 100", within="1 relative")
TIGHT = (LARGE, NAN)
LOOSE = (Entry(spec="x", kind="value", cause=CAUSE), Entry(spec="x", kind="nan", cause=CAUSE))


def trial(got, plan=XLA):
    spec = Spec(name="x", program=lambda tf, x: x, reference=lambda x: x, ops="", recipes={"r": lambda draw, d: (X,)})
    (case, *_) = spec.cases()
    result = got if isinstance(got, Result) else Result("value", np.asarray(got, np.float32))
    return Trial("suite", case, plan, Observation({"output[0]": result}), (X,))


def judge(*entries):
    return Judge(Context(run="r", started="s", here=Origin("2.21.0"), known=Known(entries)))


WANTS = {"output[0]": Want("value", X.astype(np.float64), X.dtype)}


def verdict(got, *entries):
    (record,) = judge(*entries).against_promises(trial(got), WANTS)
    return record.verdict


def changed(index, value):
    got = GOT.copy()
    got[index] = value
    return got


def test_elements_in_the_region_and_within_the_distance_are_known():
    assert verdict(GOT, *TIGHT) == "known"


@pytest.mark.parametrize(("index", "value"), [(0, 1.1), (1, np.nan), (2, 0), (3, 700), (3, np.nan)])
def test_a_fault_in_another_element_or_farther_off_is_a_mismatch(index, value):
    assert verdict(changed(index, value), *TIGHT) == "mismatch"
    assert index == 3 or verdict(changed(index, value), *LOOSE) == "known"


UPSTREAM = np.array([0, 1, 1, 1, 1], np.float32)


@pytest.mark.parametrize(
    ("where", "expected"),
    [("upstream == 0", "known"), ("upstream == 1", "mismatch"), ("own == 1", "known"), ("own == 2", "mismatch")],
)
def test_a_region_names_the_upstream_of_a_gradient_and_its_own_input(where, expected):
    entry = structs.replace(LARGE, where=where)
    result = Result("value", np.float32([2, 2, 3, 200, 5]))
    inputs = (np.zeros(5, np.float32), np.float32([1, 2, 3, 200, 5]))
    one = replace(trial(result), inputs=inputs, upstreams=(UPSTREAM,), observation=Observation({"grad[1]": result}))
    want = {"grad[1]": Want("value", np.float64([1, 2, 3, 200, 5]), X.dtype)}
    (record,) = judge(entry).against_promises(one, want)
    assert record.verdict == expected


def halving(quantity, got, mistaken, attrs=None):
    """The verdict on a result of the identity, or its gradient, that is known to be half as large as promised."""
    spec = Spec(
        name="x",
        program=lambda tf, x, **kw: x,
        reference=lambda x, **kw: x,
        vjp=lambda g, x, **kw: (g,),
        ops="",
        recipes={"r": lambda draw, d: (X,)},
        attrs=attrs or {},
        mistaken=mistaken,
    )
    (case, *_) = spec.cases()
    entry = Entry(spec="x", kind="value", cause=CAUSE, where="got == mistaken")
    observation = Observation({quantity: Result("value", np.float32(got))})
    one = Trial("suite", case, XLA, observation, (np.float32([2, 4]),), (np.float32([6, 8]),))
    promised = [2, 4] if quantity == "output[0]" else [6, 8]
    (record,) = judge(entry).against_promises(one, {quantity: Want("value", np.float64(promised), X.dtype)})
    return record


@pytest.mark.parametrize(
    ("quantity", "got", "verdict"),
    [
        ("output[0]", [1, 2], "known"),
        ("output[0]", [1, 4], "known"),
        ("output[0]", [1.1, 2.2], "mismatch"),
        ("grad[0]", [3, 4], "known"),
        ("grad[0]", [3, 12], "mismatch"),
    ],
)
def test_a_region_compares_a_result_with_what_the_spec_says_is_mistaken(quantity, got, verdict):
    mistaken = {"output": lambda x: x / 2, "grad": lambda g, x: (g / 2,)}
    assert halving(quantity, got, mistaken).verdict == verdict


def test_a_mistaken_result_depends_on_the_attributes_of_the_case():
    mistaken = {"output": lambda x, by: x / by}
    assert halving("output[0]", [1, 2], mistaken, {"two": {"by": 2}}).verdict == "known"
    assert halving("output[0]", [1, 2], mistaken, {"four": {"by": 4}}).verdict == "mismatch"


def test_a_mistaken_result_may_depend_on_the_dtype_of_the_case():
    mistaken = {"output": lambda x, dtype: x.astype(dtype) / dtype.itemsize}
    assert halving("output[0]", [0.5, 1], mistaken).verdict == "known"
    assert halving("output[0]", [1, 2], mistaken).verdict == "mismatch"


@pytest.mark.parametrize(
    ("mistaken", "why"),
    [
        ({}, "spec x has no mistaken output"),
        ({"output": lambda x: (None,)}, "mistaken output of spec x has no output[0]"),
        ({"output": lambda x: 1 // 0}, "the mistaken output of"),
    ],
)
def test_a_spec_without_the_mistaken_result_is_at_fault(mistaken, why):
    record = halving("output[0]", [1, 2], mistaken)
    assert record.verdict == "error" and why in record.detail


def test_the_trial_of_a_case_has_the_upstreams_and_the_own_input_of_its_gradient():
    spec = replace(trial(GOT).case.spec, vjp=lambda g, x: (g,), dtypes=("float32",))
    item = Item("planted", spec, "float32")
    running = RunningCase.of(item, item.cases[0], [XLA])
    running.observations[XLA] = Observation({})
    (upstream,) = running.request(XLA).upstreams
    operands = running.trial(XLA).operands("grad[0]")
    assert operands.named("upstream") is upstream and operands.named("own") is running.inputs[0]
    with pytest.raises(IndexError):
        running.trial(XLA).operands("output[0]").named("own")


def test_the_message_of_a_mismatch_says_how_many_elements_lie_elsewhere():
    (record,) = judge(*TIGHT).against_promises(trial(changed(0, 1.1)), WANTS)
    assert "expects value where x > 100 within 1 relative" in record.detail
    assert "other elements: 1 of kind value" in record.detail


def test_a_region_that_can_not_be_applied_is_a_fault_of_the_suite():
    (record,) = judge(structs.replace(LARGE, where="y > 1")).against_promises(trial(GOT), WANTS)
    assert record.verdict == "error" and "where 'y > 1'" in record.detail


def test_an_entry_with_a_region_is_stale_where_an_element_lies_in_it_and_is_right():
    right_nan, no_nan = changed(4, np.nan), replace(trial(GOT), inputs=(np.float32([1, 2, 3, 200, 5]),))
    assert verdict(right_nan, *TIGHT) == "stale"
    want = {"output[0]": Want("value", np.float64([1, 2, 3, 200, 5]), X.dtype)}
    elsewhere = replace(no_nan, observation=Observation({"output[0]": Result("value", np.float32([1, 2, 3, 400, 5]))}))
    (record,) = judge(*TIGHT).against_promises(elsewhere, want)
    assert record.verdict == "known"


def test_an_inexact_element_in_a_region_may_be_right_by_chance_unless_the_entry_names_its_recipe():
    right = changed(3, 200)
    assert verdict(right, *TIGHT) == "known"
    assert verdict(right, structs.replace(LARGE, recipe="r"), NAN) == "stale"


def compared(ours, theirs, *entries):
    """The verdict on the comparison of two plans whose results are compared with the promise first."""
    judged, masks = judge(*entries), []
    for got, plan in ((ours, XLA), (theirs, EAGER)):
        one = trial(got, plan)
        masks.append(judged.judgements(one, WANTS)["output[0]"].known_wrong)
    other = {"output[0]": WANTS["output[0]"].from_other(trial(theirs).result("output[0]"), WANTS["output[0]"])}
    excused = {"output[0]": masks[0] | masks[1]}
    (record,) = judged.against_promises(trial(ours), other, EAGER, excused)
    return record


def test_the_failing_elements_of_the_other_plan_are_excused_and_no_others():
    assert compared(X, GOT, *TIGHT).verdict == "known"
    assert compared(X, GOT, *TIGHT).cause == "doubles"
    ours = X.copy()
    ours[0] = 1.5
    assert compared(ours, GOT, *TIGHT).verdict == "mismatch"


def test_a_fault_of_the_other_plan_beside_its_known_failure_is_not_excused():
    assert compared(X, changed(0, 1.5), *TIGHT).verdict == "mismatch"


def test_the_region_of_an_entry_is_applied_once_to_a_result(monkeypatch):
    holds, applied = Region.holds, []
    monkeypatch.setattr(Region, "holds", lambda region, *parts: applied.append(region) or holds(region, *parts))
    judgement = judge(*TIGHT).judgements(trial(GOT), WANTS)["output[0]"]
    assert judgement.record.verdict == "known"
    assert judgement.known_wrong.tolist() == [False, False, False, True, True]
    assert len(applied) == len(TIGHT)


def planting(*entries, got=GOT):
    one = trial(got)
    return plant(judge(*entries), one, "output[0]", WANTS["output[0]"], comparisons(one, WANTS)["output[0]"])


def test_planted_faults_are_seen_beside_a_failure_with_a_region_and_hidden_without():
    assert planting(*TIGHT).count == planting(*LOOSE).count == 4
    assert planting(*TIGHT).unseen == ()
    assert set(planting(*LOOSE).unseen) == {
        "all elements × 1.1",
        "one element × 3",
        "one element is 0",
        "one element is NaN",
    }


def test_a_known_error_without_a_code_hides_another_error():
    error = Result("error", code="INTERNAL", message="m")
    entry = Entry(spec="x", kind="status", cause=CAUSE)
    assert planting(entry, got=error).unseen == ("another error",)
    assert planting(structs.replace(entry, code="INTERNAL"), got=error).unseen == ()


def test_the_first_known_record_of_a_place_is_chosen():
    (record,) = judge(*TIGHT).against_promises(trial(GOT), WANTS)
    seen = set()
    assert first_of_place(record, seen) and not first_of_place(record, seen)
    assert first_of_place(replace(record, quantity="grad[0]"), seen)
    assert not first_of_place(replace(record, verdict="match", mode="graph"), seen)


def test_an_entry_with_a_region_is_about_a_sweep_only_if_it_names_it():
    place = {"spec": "x", "recipe": "sweep"}
    assert not LARGE.selects(place, "2.21.0")
    named = structs.replace(LARGE, recipe=["*", "sweep"])
    assert named.selects(place, "2.21.0") and named.selects({"spec": "x", "recipe": "r"}, "2.21.0")
    assert structs.replace(LARGE, where="").selects(place, "2.21.0")


@pytest.mark.parametrize(("swept", "must"), [(True, True), (False, False)])
def test_without_elements_an_entry_with_a_region_must_fail_in_a_sweep_alone(swept, must):
    assert NAN.must_fail(Difference(("value",), swept=swept)) is must


@pytest.mark.parametrize(("ulps", "known"), [(3.0, True), (5.0, False)])
def test_without_elements_the_largest_distance_counts(ulps, known):
    entry = structs.replace(LARGE, where="", within="4 ulp")
    assert entry.expects(Difference(("value",), max_ulp=ulps)) is known


@pytest.mark.parametrize("intermittent", [True, False])
def test_a_known_crash_makes_no_other_entry_stale(intermittent):
    crash = Result("crash", code="SIGABRT", message="free(): invalid next size")
    entry = Entry(spec="x", kind="crash", cause=CAUSE, code=["SIGABRT", "SIGSEGV"], intermittent=intermittent)
    assert verdict(crash, entry, *LOOSE) == "known"
    assert verdict(crash, *LOOSE) == "mismatch"
