"""A result that differs by several kinds: every kind is recorded, and each has to be known by itself."""

from dataclasses import replace

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.differences import wording
from tf_opdiff.harness.judge.differences.compare import compare, compare_arrays
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Origin, Trial
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.sweep.measurements.tally import WORST, Tally

EAGER, XLA = (Plan(Device("cpu"), mode) for mode in ("eager", "xla"))
#: Promised: the inputs. The signs of both zeros are lost, and the last element is 8 times too large.
X = np.array([-0.0, 1, 2, -0.0, 3], np.float32)
ZEROS = np.abs(X)
BOTH = np.array([0.0, 1, 2, 0.0, 24], np.float32)
FAR = np.array([-0.0, 1, 2, -0.0, 24], np.float32)
ZERO_CAUSE = Cause(id="zero", owner="us", reason="planted signs of zeros", severity="special_value")
FAR_CAUSE = Cause(id="far", owner="tensorflow", reason="planted numbers far off", severity="wrong_value")
SIGNED_ZERO = Entry(spec="x", kind="signed_zero", cause=ZERO_CAUSE)
VALUE = Entry(spec="x", kind="value", cause=FAR_CAUSE)


def trial(got):
    spec = Spec(name="x", program=lambda tf, x: x, reference=lambda x: x, ops="", recipes={"r": lambda draw, d: (X,)})
    (case, *_) = spec.cases()
    return Trial("suite", case, XLA, Observation({"output[0]": Result("value", got)}), (X,))


def judge(*entries, part=False):
    return Judge(Context(run="r", started="s", here=Origin("2.21.0"), known=Known(entries)), part=part)


def record(got, *entries, base=None, part=False):
    (row,) = judge(*entries, part=part).against_promises(trial(got), wants(), base)
    return row


def wants():
    return {"output[0]": Want("value", X.astype(np.float64), X.dtype)}


def test_each_kind_has_its_count_and_its_worst_and_simplest_element():
    got, want = BOTH.copy(), X.astype(np.float64)
    got[2] = 2.5
    comparison = compare_arrays(got, want, X.dtype, inputs=(np.float32([5, 7, 9, 3, 11]),))
    assert comparison.kinds == ("signed_zero", "value")
    zero, value = comparison.each
    assert (zero.kind, zero.count, zero.index, zero.simplest.index) == ("signed_zero", 2, (0,), (3,))
    assert (value.kind, value.count, value.index, value.simplest.index) == ("value", 2, (4,), (2,))
    assert (zero.mismatched, value.mismatched) == (4, 4)
    assert (zero.distance, value.distance) == ("", "8 times the expected number")
    assert (comparison.kind, comparison.showing("value").kind) == ("signed_zero", "value")
    assert comparison.showing("value").each == comparison.each


def test_the_parts_of_a_complex_number_may_differ_by_different_kinds():
    want = np.array([1 + 2j, 3 + 4j, 5 + 6j], np.complex64)
    got = np.array([1 + 2j, 24 + 4j, complex(40, np.nan)], np.complex64)
    comparison = compare_arrays(got, want, want.dtype)
    assert (comparison.kinds, comparison.mismatched) == (("nan", "value"), 2)
    nan, value = comparison.each
    assert (nan.count, nan.index, nan.got) == (1, (2,), "(40+nanj)")
    assert (value.count, value.index) == (2, (1,))


def test_a_gradient_of_zeros_is_one_kind():
    zeros = Result("value", np.float32([0, 0, -0.0]))
    want = Want("value", np.array([1.0, np.nan, 0.0]), X.dtype)
    assert compare(zeros, want, "grad[0]").kinds == ("gradient_status",)
    assert compare(zeros, want, "output[0]").kinds == ("nan", "signed_zero", "value")


def test_a_second_kind_of_fault_in_a_known_row_is_a_mismatch_and_is_shown():
    assert record(ZEROS, SIGNED_ZERO).verdict == "known"
    row = record(BOTH, SIGNED_ZERO)
    assert (row.verdict, row.kind, row.kinds, row.severity) == ("mismatch", "value", "signed_zero;value", "wrong_value")
    assert (row.worst_index, row.got, row.want, row.mismatched) == ("[4]", "24.0", "3.0", 3)
    assert row.detail == (
        "entry 1 of known.toml expects signed_zero here. Also signed_zero in 2 of 5 at [0]: got 0.0, want -0.0."
    )
    row = record(BOTH, VALUE)
    assert (row.verdict, row.kind, row.severity) == ("mismatch", "signed_zero", "special_value")


def test_a_row_without_entries_shows_its_first_kind_and_has_the_highest_severity():
    row = record(BOTH)
    assert (row.verdict, row.kind, row.kinds, row.severity) == (
        "mismatch",
        "signed_zero",
        "signed_zero;value",
        "wrong_value",
    )
    assert row.detail == "Also value in 1 of 5 at [4]: got 24.0, want 3.0 (8 times the expected number at worst)."
    assert ": signed_zero, value in 3 of 5" in wording.sentence(row)


@pytest.mark.parametrize("entries", [(SIGNED_ZERO, VALUE), (VALUE, SIGNED_ZERO)])
def test_a_row_is_known_if_each_of_its_kinds_is_and_names_all_causes(entries):
    row = record(BOTH, *entries)
    assert (row.verdict, row.kind, row.kinds) == ("known", "value", "signed_zero;value")
    assert (row.cause, row.owner, row.reason) == ("far;zero", "tensorflow", "planted numbers far off")
    assert row.severity == "wrong_value"


def test_one_cause_of_two_kinds_is_named_once():
    row = record(BOTH, SIGNED_ZERO, Entry(spec="x", kind="value", cause=ZERO_CAUSE))
    assert (row.verdict, row.kind, row.cause) == ("known", "signed_zero", "zero")


@pytest.mark.parametrize(("got", "kind", "gone"), [(ZEROS, "signed_zero", 2), (FAR, "value", 1), (X, "", 1)])
def test_an_entry_whose_kind_no_longer_occurs_is_stale(got, kind, gone):
    row = record(got, SIGNED_ZERO, VALUE)
    fails = f" by {'signed_zero' if gone == 1 else 'value'}" if kind else ""
    assert (row.verdict, row.kind) == ("stale", kind)
    assert row.detail.startswith(f"no longer fails{fails}: delete or narrow entry {gone} of known.toml")
    assert row.cause == ("far;zero" if not kind else "zero" if gone == 1 else "far")


def test_between_plans_a_kind_may_stay_within_the_wider_budget():
    zero, far = (Entry(spec="x", mode="xla", kind=e.kind, cause=e.cause) for e in (SIGNED_ZERO, VALUE))
    assert record(FAR, zero, far, base=EAGER).verdict == "known"
    assert record(BOTH, zero, base=EAGER).verdict == "mismatch"
    named = Entry(spec="x", mode="xla", kind="signed_zero", cause=ZERO_CAUSE, against="plan")
    assert record(FAR, named, far, base=EAGER).verdict == "stale"


def test_a_known_failure_may_lie_outside_the_part_that_was_compared():
    assert record(FAR, SIGNED_ZERO, VALUE, part=True).verdict == "known"
    assert record(X, SIGNED_ZERO, part=True).verdict == "match"
    assert record(BOTH, SIGNED_ZERO, part=True).verdict == "mismatch"


def test_a_run_may_differ_from_itself_by_several_kinds():
    again = {"nondeterministic": {"output[0]": Result("value", FAR)}, "position": {"output[0]": Result("value", BOTH)}}
    one = replace(trial(X), observation=Observation({"output[0]": Result("value", X)}, again=again))
    entries = [Entry(spec="x", kind=kind, cause=FAR_CAUSE) for kind in again]
    for known, verdict in ((entries, "known"), (entries[:1], "mismatch"), (entries[1:], "mismatch")):
        (row,) = judge(*known).against_itself(one, wants())
        assert (row.verdict, row.kinds) == (verdict, "nondeterministic;position")
    assert row.kind == "nondeterministic"


def kept(verdict, kinds, *entries, kind=""):
    place = {"spec": "x", "mode": "xla", "against": "numpy", "quantity": "output[0]", "cause": "before"}
    row = Record(**place, verdict=verdict, kind=kind or kinds.partition(";")[0], kinds="" if kind else kinds)
    return judge(*entries).restored(XLA, row)


def test_a_kept_record_is_judged_by_all_its_kinds():
    row = kept("known", "signed_zero;value", SIGNED_ZERO, VALUE)
    assert (row.verdict, row.cause, row.owner, row.severity) == ("known", "far;zero", "tensorflow", "wrong_value")
    assert kept("known", "signed_zero;value", SIGNED_ZERO).verdict == "mismatch"
    assert kept("known", "signed_zero;value", SIGNED_ZERO).cause == "zero"
    assert kept("known", "signed_zero").cause == ""
    assert kept("known", "signed_zero", SIGNED_ZERO, VALUE).verdict == "stale"
    assert kept("stale", "value", VALUE).verdict == "known"
    assert (kept("match", "").verdict, kept("contract", "subnormal").verdict) == ("match", "contract")


def test_a_record_of_an_earlier_version_has_its_shown_kind():
    assert Record(kind="nan").every_kind == ("nan",)
    assert Record(kind="value", kinds="nan;value").every_kind == ("nan", "value")
    assert Record().every_kind == ()
    assert kept("mismatch", "", SIGNED_ZERO, kind="signed_zero").verdict == "known"


def tally(kind, count, ulps=0.0, start=0):
    worst = [[kind, ulps - i, start + i, "1.0", "2.0"] for i in range(count)]
    simple = {kind: [[float(start)], start, "1.0", "2.0"]}
    return Tally(size=100, mismatched=count, kinds={kind: count}, worst=worst, simplest=simple)


def test_a_sweep_keeps_the_worst_element_of_each_kind():
    total = tally("nan", WORST + 5)
    total.add(tally("value", 3, ulps=9.0, start=50))
    total.add(tally("nan", 2, start=80))
    comparison = total.comparison(1.0)
    assert (comparison.kinds, comparison.mismatched) == (("nan", "value"), WORST + 10)
    nan, value = comparison.each
    assert (nan.count, value.count, nan.index, value.index) == (WORST + 7, 3, (0,), (50,))
    assert value.simplest.index == (50,)
    assert len(total.worst) == WORST + 1
