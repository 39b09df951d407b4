"""What a comparison means: verdicts, records, runs and their books, told from observations that are made up here."""

from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.cases.planned_cells import planned
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.device.repeat import PIECES, ROW_CHECKS, RUN_CHECKS, run_self_checks, same, self_checks_of
from tf_opdiff.harness.device.request import Arguments
from tf_opdiff.harness.judge.differences.compare import compare_arrays
from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.known_failures.entry import Entry
from tf_opdiff.harness.judge.known_failures.known import Known, place_of
from tf_opdiff.harness.judge.promises.allowed import budgeted
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.judge.verdicts import claim
from tf_opdiff.harness.judge.verdicts.verdict import LOST, Context, Judge, Origin, Trial
from tf_opdiff.harness.run.exit_status import exit_status
from tf_opdiff.harness.run.runner import Runner
from tf_opdiff.harness.run.selection import Selection
from tf_opdiff.harness.run.sessions.session import Session
from tf_opdiff.harness.run.sessions.session_end import finish
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Claim, Raises, Side, Spec, Topic
from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.store.shards.shard import Shard

EAGER, XLA, GRAPH = (Plan(Device("cpu"), mode) for mode in ("eager", "xla", "graph"))
STEP = np.float32(2.0**-23)  # an ULP of 1
ONE = np.ones(5, np.float32)
CAUSE = Cause(id="planted", owner="us", reason="planted for these tests", link="https://example.org/1")
ENTRY = {"spec": "x", "kind": "value", "cause": CAUSE}


def program(tf, x):
    return tf.ones_like(x)


def made(**more):
    defaults = {"name": "x", "program": program, "reference": np.ones_like, "ops": ""}
    return Spec(**defaults | {"recipes": {"ones": lambda draw, dtype: (np.ones(5, dtype),)}} | more)


def context(*entries, **more):
    fields = {"run": "r", "started": "s", "here": Origin("2.21.0", "12", "h"), "known": Known(entries)}
    return Context(**fields | more)


def only(records):
    (record,) = records
    return record


def of_ones(case, plan, quantity="output[0]"):
    """The promise of ones, within the budget of the spec."""
    return budgeted(case, quantity, Want("value", np.ones(5), ONE.dtype)).in_mode(plan.mode)


def judged(got, *entries, spec=None, plan=XLA, wants=None, quantities=None, base=None, **about):
    """The records of an observation of the first case: by default, of one output."""
    (case, *_) = (spec or made()).cases()
    seen = Observation({"output[0]": got} if quantities is None else quantities, **about)
    want = of_ones(case, plan)
    if base:
        want = want.from_other(Result("value", ONE), want)
    wants = {"output[0]": want} if wants is None else wants
    trial = Trial("suite", case, plan, seen, case.inputs())
    return Judge(context(*entries)).against_promises(trial, wants, base)


@pytest.mark.parametrize(("got", "verdict"), [(np.ones(5, np.float32), "match"), (np.zeros(5, np.float32), "mismatch")])
def test_the_detail_of_an_output_begins_with_its_name(got, verdict):
    record = only(judged(Result("value", got), spec=made(names=("x / x",))))
    assert record.verdict == verdict
    assert record.detail.split(": ")[0] == "x / x"


def test_an_output_without_a_name_has_none():
    spec = made(names=("x / x",))
    assert [spec.name_of(q) for q in ("output[0]", "output[1]", "grad[0]", "input[0]")] == ["x / x", "", "", ""]


def ulps(n):
    return Result("value", ONE + n * STEP)


LACKING = {"lacking": "no kernel", "got": Result("error", code="NOT_FOUND", message="m")}


@pytest.mark.parametrize(("off", "verdict"), [(2, "match"), (3, "mismatch")])
def test_the_budget_of_the_spec_is_what_is_allowed_against_numpy(off, verdict):
    record = only(judged(ulps(off), spec=made(ulp={"output": 2})))
    assert (record.verdict, record.budget, record.max_ulp) == (verdict, 2, off)


@pytest.mark.parametrize(("off", "verdict"), [(4, "match"), (5, "mismatch")])
def test_a_base_doubles_the_budget_and_no_more(off, verdict):
    record = only(judged(ulps(off), spec=made(ulp={"output": 2}), base=EAGER))
    assert (record.verdict, record.budget, record.against) == (verdict, 4, "cpu/eager")


def test_the_bound_of_another_result_is_added_to_that_of_the_promise():
    one, other = (Want("value", np.ones(5), ONE.dtype, bound=np.full(5, n * STEP)) for n in (2, 3))
    assert (one.from_other(ulps(0), other).bound == 5 * STEP).all()


@pytest.mark.parametrize(
    ("plan", "off", "kind"), [(EAGER, 1, ""), (GRAPH, 2, "value"), (EAGER, 2, "value"), (XLA, 8, ""), (XLA, 9, "value")]
)
@pytest.mark.parametrize(
    "spec",
    [
        {"ulp": {"output": by_mode(eager=1, xla=8)}},
        {"ulp": {"output": {"float32": by_mode(eager=1, xla=8)}}},
        {"ulp": {"output": by_mode(eager={"float32": 1}, xla={"float32": 8})}},
        {"bound": {"output": by_mode(eager=lambda u, g, x: 2 * u, xla=lambda u, g, x: 16 * u)}},
    ],
    ids=["budget", "by dtype", "of dtypes", "bound"],
)
def test_kernels_are_not_allowed_the_errors_of_xla(tmp_path, spec, plan, off, kind):
    records, _ = ran(tmp_path, made(**spec), {plan: ulps(off)})
    assert records[plan.mode, "numpy", "output[0]"].kind == kind


@pytest.mark.parametrize("fields", ["ulp", "bound"])
@pytest.mark.parametrize(
    ("plans", "off", "kind"),
    [((EAGER, GRAPH), 2, ""), ((EAGER, GRAPH), 3, "value"), ((EAGER, XLA), 9, ""), ((EAGER, XLA), 10, "value")],
)
def test_two_plans_may_differ_by_the_sum_of_their_budgets(tmp_path, fields, plans, off, kind):
    bounds = by_mode(eager=lambda u, g, x: 2 * u, xla=lambda u, g, x: 16 * u)
    spec = made(**{fields: {"output": by_mode(eager=1, xla=8) if fields == "ulp" else bounds}})
    records, _ = ran(tmp_path, spec, {plans[0]: ulps(0), plans[1]: ulps(off)})
    record = records[plans[1].mode, "cpu/eager", "output[0]"]
    assert (record.kind, record.budget) == (kind, 2 if plans[1] == GRAPH else 9)


def test_a_position_is_held_to_the_budget_of_its_mode():
    fields = {"ulp": {"output": by_mode(eager=1, xla=8)}}
    assert only(again("position", {"output[0]": ulps(16)}, **fields)).verdict == "match"
    assert only(again("position", {"output[0]": ulps(3)}, plan=EAGER, **fields)).verdict == "mismatch"


def test_a_budget_is_that_of_its_quantity_and_dtype():
    spec = made(ulp={"output": {"float32": 3, "float64": 5}, "output[1]": 7, "grad": 9})
    budgets = [
        spec.tolerance.ulps(q, d, "eager")
        for q, d in (("output[0]", "float32"), ("output[0]", "float16"), ("grad[3]", "bool"))
    ]
    assert budgets == [3, 0, 9]
    assert (spec.tolerance.ulps("output[1]", "float32", "xla"), spec.tolerance.ulps("jvp[0]", "float32", "xla")) == (
        7,
        0,
    )


def test_a_quantity_that_did_not_come_is_a_mismatch():
    record = only(judged(None, quantities={}))
    assert (record.verdict, record.kind, record.got) == ("mismatch", "status", "error MISSING")


@pytest.mark.parametrize(
    ("quantity", "kind"), [("output[1]", "status"), ("grad[0]", "gradient_status"), ("jvp[0]", "gradient_status")]
)
def test_a_quantity_that_nobody_promised_is_a_mismatch(quantity, kind):
    right, beyond = judged(None, quantities={"output[0]": ulps(0), quantity: ulps(0)})
    assert right.verdict == "match"
    assert (beyond.quantity, beyond.verdict, beyond.kind) == (quantity, "mismatch", kind)
    assert (beyond.got, beyond.want) == ("value float32[5]", "nothing")


def test_a_fault_of_the_suite_is_an_error_whatever_came():
    record = only(judged(ulps(0), fault="ran elsewhere"))
    assert (record.verdict, record.kind, record.detail) == ("error", "status", "ran elsewhere")
    assert only(judged(ulps(9), Entry(**ENTRY), fault="ran elsewhere")).verdict == "error"


def test_an_error_for_want_of_a_kernel_is_unavailable_and_nothing_else_is():
    assert only(judged(**LACKING)).verdict == "unavailable"
    assert only(judged(LACKING["got"])).verdict == "mismatch"
    assert only(judged(ulps(9), lacking="no kernel")).verdict == "mismatch"
    assert only(judged(Result("crash", code="SIGABRT"), lacking="no kernel")).verdict == "mismatch"


@pytest.mark.parametrize("plan", [XLA, Plan(Device("gpu"), "eager")])
def test_an_error_that_no_missing_kernel_gives_is_a_mismatch(plan):
    assert only(judged(Result("error", code="TypeError"), lacking="no kernel", plan=plan)).verdict == "mismatch"


@pytest.mark.parametrize(("device", "verdict"), [("cpu", "mismatch"), ("gpu", "unavailable")])
def test_a_dtype_that_a_device_does_not_take_as_an_argument_is_unavailable(device, verdict):
    message = (
        "Assigned device 'GPU:0' does not have registered OpKernel support for _Retval [[{{node identity_RetVal}}]]"
    )
    plan = Plan(Device(device), "function")
    assert only(judged(Result("error", code="INTERNAL", message=message), plan=plan)).verdict == verdict
    assert only(judged(Result("error", code="INTERNAL", message="other"), plan=plan)).verdict == "mismatch"


@pytest.mark.parametrize(("device", "verdict"), [("cpu", "mismatch"), ("gpu", "unavailable"), ("toy", "unavailable")])
def test_a_kernel_voids_the_promise_of_its_absence_but_on_the_cpu(device, verdict):
    """The CPU's kernels are known: a new one is a dtype that no spec computes with."""
    wants = {"output[0]": Want("error", raises=Raises("NOT_FOUND", without_kernel=True))}
    plan = Plan(Device(device), "eager")
    record = only(judged(ulps(0), wants=wants, plan=plan))
    assert (record.verdict, record.kind) == (verdict, "status")
    assert record.detail.startswith("this device has a kernel") == (verdict == "unavailable")
    other = wants["output[0]"].from_other(Result("error", code="NOT_FOUND"), wants["output[0]"])
    assert only(judged(ulps(0), wants={"output[0]": other}, plan=plan, base=EAGER)).verdict == verdict
    promised = {"output[0]": Want("error", raises=Raises("NOT_FOUND"))}
    assert only(judged(ulps(0), wants=promised, plan=plan)).verdict == "mismatch"


@pytest.mark.parametrize(("device", "verdict"), [("cpu", "mismatch"), ("gpu", "unavailable")])
def test_another_error_than_the_promised_one_counts_on_the_cpu(device, verdict):
    from tf_opdiff.harness.spec.spec import Raises

    wants = {"output[0]": Want("error", raises=Raises("INVALID_ARGUMENT"))}
    assert only(judged(**LACKING, wants=wants, plan=Plan(Device(device), "eager"))).verdict == verdict


@pytest.mark.parametrize(
    ("entry", "verdict"),
    [
        ({}, "known"),
        ({"kind": "nan"}, "mismatch"),
        ({"quantity": "grad[0]"}, "mismatch"),
        ({"mode": "eager"}, "mismatch"),
        ({"device": "gpu"}, "mismatch"),
        ({"dtype": "float64"}, "mismatch"),
        ({"recipe": "twos"}, "mismatch"),
        ({"against": "plan"}, "mismatch"),
        ({"tf": "<2.21"}, "mismatch"),
        ({"tf": ">=2.18,<2.22"}, "known"),
        ({"against": "numpy", "device": ["gpu", "cpu"], "mode": ["xla", "graph"]}, "known"),
    ],
)
def test_an_entry_covers_its_own_kind_in_its_own_place(entry, verdict):
    record = only(judged(ulps(1), Entry(**ENTRY | entry)))
    assert record.verdict == verdict
    explained = (record.owner, record.reason, record.link, record.cause)
    whole = ("us", "planted for these tests", "https://example.org/1", "planted")
    assert explained == (whole if verdict == "known" or "expects" in record.detail else ("", "", "", ""))


@pytest.mark.parametrize(("code", "verdict"), [("", "known"), ("INTERNAL", "known"), ("ABORTED", "mismatch")])
def test_an_entry_of_an_error_covers_its_own_code(code, verdict):
    entry = Entry(**ENTRY | {"kind": "status", "code": code})
    assert only(judged(Result("error", code="INTERNAL"), entry)).verdict == verdict


def test_a_known_failure_that_is_gone_is_stale_against_numpy_and_not_between_plans():
    stale = only(judged(ulps(0), Entry(**ENTRY)))
    assert stale.verdict == "stale"
    assert "delete or narrow entry 1 of known.toml" in stale.detail
    assert only(judged(ulps(0), Entry(**ENTRY), base=EAGER)).verdict == "match"
    assert only(judged(ulps(0), Entry(**ENTRY | {"against": "plan"}), base=EAGER)).verdict == "stale"


def test_a_known_failure_hides_no_result_that_is_farther_off_than_its_bound():
    bounded = Entry(**ENTRY | {"within": "9 ulp"})
    assert only(judged(ulps(9), bounded)).verdict == "known"
    beyond = only(judged(ulps(10), bounded))
    assert beyond.verdict == "mismatch"
    assert "expects value within 9 ulp here" in beyond.detail
    assert only(judged(ulps(0), bounded)).verdict == "stale"


def test_an_intermittent_failure_is_known_when_it_shows_and_not_stale_when_it_does_not():
    entries = [Entry(**ENTRY | {"kind": kind, "intermittent": True}) for kind in ("value", "nan")]
    assert only(judged(ulps(9), *entries)).verdict == "known"
    assert only(judged(ulps(0), *entries)).verdict == "match"
    assert only(judged(ulps(9), entries[1])).verdict == "mismatch"


def test_a_known_crash_shows_no_other_failure_and_makes_no_entry_stale():
    crash, value = (Entry(**ENTRY | {"kind": kind}) for kind in ("crash", "value"))
    ended = Result("crash", code="SIGABRT")
    assert only(judged(ended, crash, value)).verdict == "known"
    assert only(judged(ulps(9), crash, value)).verdict == "stale"
    assert only(judged(ended, value)).verdict == "mismatch"


def test_an_entry_about_chance_is_known_when_it_shows_and_not_stale_when_it_does_not():
    results, chance = {"output[0]": ulps(1)}, [Entry(**ENTRY | {"kind": "nondeterministic"})]
    assert only(again("nondeterministic", results, entries=chance)).verdict == "known"
    assert only(again("nondeterministic", {}, entries=chance)).verdict == "match"
    assert only(again("position", {}, entries=[Entry(**ENTRY | {"kind": "position"})])).verdict == "stale"


def test_the_difference_from_a_plan_that_is_known_to_fail_is_known():
    entry = Entry(**ENTRY | {"mode": "eager", "kind": "nan"})
    assert only(judged(ulps(1), entry, base=EAGER)).verdict == "known"
    assert only(judged(ulps(1), entry, base=GRAPH)).verdict == "mismatch"
    assert only(judged(ulps(0), entry, base=EAGER)).verdict == "match"


def test_no_entry_is_about_a_claim_or_of_one_kind_about_the_other():
    place = place_of(Record(spec="x", device="cpu", mode="xla", against="claim:C01a", quantity="output[0]"))
    assert not Entry(**ENTRY).selects(place, "2.21.0")
    itself = place_of(Record(spec="x", device="cpu", mode="xla", against="cpu/xla", quantity="output[0]"))
    assert not Entry(**ENTRY).selects(itself, "2.21.0")
    assert Entry(**ENTRY | {"kind": "position"}).selects(itself, "2.21.0")
    assert not Entry(**ENTRY | {"kind": "position"}).selects(itself | {"against": "numpy"}, "2.21.0")


def test_all_entries_about_a_place_count_and_are_numbered_from_one():
    known = Known((Entry(**ENTRY | {"spec": "y"}), Entry(**ENTRY), Entry(**ENTRY | {"kind": "nan"})))
    place = place_of(Record(spec="x", device="cpu", mode="xla", against="numpy", quantity="output[0]"))
    assert known.about(place, "2.21.0") == ((2, known.entries[1]), (3, known.entries[2]))
    assert known.about(place | {"spec": "z"}, "2.21.0") == ()


def test_an_entry_about_cases_that_ran_and_no_comparison_is_idle():
    known = Known((Entry(**ENTRY), Entry(**ENTRY | {"quantity": "output[7]"}), Entry(**ENTRY | {"spec": "y"})))
    lines = known.idle([Record(spec="x", device="cpu", mode="xla", against="numpy", quantity="output[0]")])
    assert "entry 2" in only(lines)


def test_an_entry_about_other_plans_is_idle_only_where_plans_are_compared():
    known = Known([Entry(**ENTRY | {"against": "plan", "quantity": "output[7]"})])
    alone = Record(spec="x", device="cpu", mode="xla", against="numpy", quantity="output[0]")
    assert known.idle([alone]) == []
    assert known.idle([alone, replace(alone, against="cpu/eager")])


SIDE = {"*/xla": Side(reference=np.zeros_like, why="it is documented", link="https://example.org")}


def test_a_contract_is_held_to_on_its_own_side_only():
    spec = made(contract=SIDE)
    held = only(judged(ulps(0), spec=spec))
    assert (held.verdict, held.detail, held.link) == ("contract", "it is documented", "https://example.org")
    assert only(judged(ulps(1), spec=spec)).verdict == "mismatch"
    assert only(judged(ulps(0), spec=spec, plan=GRAPH)).verdict == "match"


def test_a_side_of_a_contract_has_its_own_promise():
    (case,) = made(contract=SIDE).cases()
    sides = [expectation(case, case.inputs(), case.spec.side(plan)).wants["output[0]"] for plan in (XLA, GRAPH)]
    assert [want.value.tolist() for want in sides] == [[0] * 5, [1] * 5]


def test_a_record_says_where_it_is_from_and_shows_its_worst_element():
    got = ONE.copy()
    got[3] = 2
    record = only(judged(Result("value", got)))
    assert (record.tf, record.cuda, record.host, record.run, record.suite) == ("2.21.0", "12", "h", "r", "suite")
    assert (record.worst_index, record.got, record.want, record.input) == ("[3]", "2.0", "1.0", "1.0")
    assert (record.mismatched, record.size) == (1, 5)
    assert record.rerun == "pytest suites --case x-float32-ones --device cpu --mode xla"
    for word in ("mismatch: x-float32-ones on cpu/xla against numpy, output[0]: value", "in 1 of 5", "at [3]"):
        assert word in sentence(record)


def again(kind, results, quantities=None, inputs=(ONE,), plan=XLA, entries=(), **spec):
    (case,) = made(**spec).cases()
    quantities = {"output[0]": ulps(0)} if quantities is None else quantities
    wants = {q: of_ones(case, plan, q) for q in quantities}
    seen = Observation(quantities, again={k: results if k == kind else {} for k in RUN_CHECKS})
    return Judge(context(*entries)).against_itself(Trial("suite", case, plan, seen, inputs), wants)


@pytest.mark.parametrize("kind", ["nondeterministic", "position"])
def test_what_differs_from_itself_is_a_mismatch_of_its_kind(kind):
    record = only(again(kind, {"output[0]": ulps(8)}))
    assert (record.verdict, record.kind, record.against) == ("mismatch", kind, "cpu/xla")


@pytest.mark.parametrize(("kind", "off", "verdict"), [("position", 4, "match"), ("position", 5, "mismatch")])
def test_two_positions_may_each_be_off_by_the_budget(kind, off, verdict):
    record = only(again(kind, {"output[0]": ulps(off)}, ulp={"output": 2}))
    assert (record.verdict, record.budget, record.max_ulp) == (verdict, 4, off)
    assert record.kind == ("position" if verdict == "mismatch" else "")


def test_a_rerun_within_the_budget_is_nondeterministic_all_the_same():
    record = only(again("nondeterministic", {"output[0]": ulps(1)}, ulp={"output": 2}))
    assert (record.verdict, record.kind) == ("mismatch", "nondeterministic")


def test_an_input_that_was_written_to_is_a_mismatch_with_the_element():
    changed = ONE.copy()
    changed[2] = 7
    record = only(again("input_mutated", {"input[0]": Result("value", changed)}))
    assert (record.verdict, record.kind, record.worst_index) == ("mismatch", "input_mutated", "[2]")
    assert (record.got, record.want) == ("7.0", "1.0")
    of_gradient = only(again("input_mutated", {"input[0]": Result("value", changed)}, {"grad[0]": ulps(0)}))
    assert (of_gradient.quantity, of_gradient.kind) == ("grad[0]", "input_mutated")


def test_what_is_the_same_again_matches_and_what_did_not_come_is_not_held_against_itself():
    assert only(again("position", {})).verdict == "match"
    assert again("position", {}, {"output[0]": Result("error", code="INTERNAL")}) == []
    (case,) = made().cases()
    once = Trial("suite", case, XLA, Observation({"output[0]": ulps(0)}))
    assert Judge(context()).against_itself(once, {"output[0]": None}) == []


def test_a_case_without_a_reference_or_a_recording_has_a_record():
    (case,) = made().cases()
    record = Judge(context()).broken(Trial("suite", case, XLA), "the reference failed")
    assert (record.verdict, record.kind, record.detail) == ("error", "reference", "the reference failed")
    record = Judge(context()).absent(Trial("suite", case, XLA), "not recorded")
    assert (record.verdict, record.kind) == ("unavailable", "status")


def kept(verdict, kind="value", entries=()):
    row = Record(spec="x", dtype="float32", recipe="ones", mode="xla", against="numpy", quantity="output[0]")
    return Judge(context(*entries)).restored(XLA, replace(row, verdict=verdict, kind=kind))


def test_a_record_that_was_kept_is_judged_by_todays_entries():
    assert kept("known").verdict == "mismatch"
    assert kept("mismatch", entries=[Entry(**ENTRY)]).verdict == "known"
    assert kept("mismatch", "nan", entries=[Entry(**ENTRY)]).verdict == "mismatch"
    assert kept("match", "", entries=[Entry(**ENTRY)]).verdict == "stale"
    assert kept("match", "").verdict == "match"
    assert kept("error").verdict == "error"


class MadeUp(NamedTuple):
    """The stored observations of a device, made up: `seen` maps modes to them."""

    seen: dict[str, Observation]

    def observation(self, request, program):
        return self.seen[request.mode]

    def without_arrays(self, case, mode):
        return False


def ran(tmp_path, spec, seen):
    """The records of a spec by plan and what each is against, and the run's books."""
    (tmp_path / "shards").mkdir(exist_ok=True)
    shard = Shard(tmp_path / "shards" / "a.jsonl")
    stored = {plan.device: MadeUp({}) for plan in seen}
    for plan, s in seen.items():
        stored[plan.device].seen[plan.mode] = s if isinstance(s, Observation) else Observation({"output[0]": s})
    runner = Runner(CaseRunner(context(), list(seen), stored=stored), shard, Slots([]))
    try:
        records = runner.run(Item("tf_opdiff.harness.tests.judge.verdicts.test_judging", spec, "float32"))
    finally:
        shard.close()
    return {(r.mode, r.against, r.quantity): r for r in records}, merge([tmp_path])


@pytest.mark.parametrize(("off", "verdict"), [(4, "match"), (5, "mismatch")])
def test_two_plans_may_be_twice_as_far_from_each_other_as_from_numpy(tmp_path, off, verdict):
    records, _ = ran(tmp_path, made(ulp={"output": 2}), {EAGER: ulps(0), XLA: ulps(off)})
    found = records["xla", "cpu/eager", "output[0]"]
    assert (found.verdict, found.budget) == (verdict, 4)


@pytest.mark.parametrize(("off", "verdict"), [(4, "match"), (5, "mismatch")])
def test_a_bound_is_twice_as_wide_between_plans(tmp_path, off, verdict):
    spec = made(bound={"output": lambda u, g, x: 4 * u + 0 * x})
    records, _ = ran(tmp_path, spec, {EAGER: ulps(0), XLA: ulps(off)})
    assert records["xla", "cpu/eager", "output[0]"].verdict == verdict


def test_the_plan_that_agrees_with_numpy_is_the_one_that_others_are_held_against(tmp_path):
    records, _ = ran(tmp_path, made(), {EAGER: ulps(1), XLA: ulps(0), GRAPH: ulps(0)})
    assert {against for _, against, _ in records} == {"numpy", "cpu/xla"}
    assert records["eager", "cpu/xla", "output[0]"].verdict == "mismatch"


@pytest.mark.parametrize("unusable", [{"fault": "ran elsewhere"}, {"lacking": "no kernel"}])
def test_a_plan_that_proves_nothing_is_no_measure_for_others(tmp_path, unusable):
    failed = Observation({"output[0]": ulps(0)}, **unusable)
    records, _ = ran(tmp_path, made(), {EAGER: failed, XLA: ulps(1), GRAPH: ulps(1)})
    assert {against for _, against, _ in records} == {"numpy", "cpu/xla"}


def test_plans_with_other_promises_are_not_held_against_each_other(tmp_path):
    records, _ = ran(tmp_path, made(contract=SIDE), {EAGER: ulps(0), XLA: Result("value", 0 * ONE), GRAPH: ulps(0)})
    assert {(mode, against) for mode, against, _ in records} == {
        *((mode, "numpy") for mode in ("eager", "xla", "graph")),
        ("graph", "cpu/eager"),
    }


def test_outputs_beyond_the_promised_are_compared_with_numpy_and_between_plans(tmp_path):
    two = Observation({"output[0]": ulps(0), "output[1]": ulps(0)})
    other = Observation({"output[0]": ulps(0), "output[1]": ulps(3)})
    records, _ = ran(tmp_path, made(), {EAGER: two, XLA: other, GRAPH: ulps(0)})
    wrong = {key: r.kind for key, r in records.items() if r.verdict != "match"}
    assert wrong == {
        ("eager", "numpy", "output[1]"): "status",
        ("xla", "numpy", "output[1]"): "status",
        ("eager", "cpu/graph", "output[1]"): "status",
        ("xla", "cpu/graph", "output[1]"): "status",
    }


def test_an_output_fewer_is_a_mismatch_with_numpy_and_between_plans(tmp_path):
    spec = made(reference=lambda x: (x, x))
    two = Observation({"output[0]": ulps(0), "output[1]": ulps(0)})
    records, _ = ran(tmp_path, spec, {EAGER: two, XLA: ulps(0)})
    wrong = {key for key, r in records.items() if r.verdict == "mismatch"}
    assert wrong == {("xla", "numpy", "output[1]"), ("xla", "cpu/eager", "output[1]")}


def test_a_reference_that_fails_leaves_a_record_in_every_cell(tmp_path):
    records, merged = ran(tmp_path, made(reference=lambda x: ()), {EAGER: ulps(0), XLA: ulps(0)})
    assert {(r.verdict, r.kind) for r in records.values()} == {("error", "reference")}
    assert len(merged.done) == 2


def test_a_cell_is_planned_for_every_case_and_mode_that_a_spec_can_express():
    item = Item("m", made(modes=("eager", "graph"), recipes={"a": plain, "b": plain}), "float32")
    cells = planned(item, [EAGER, XLA, GRAPH])
    assert [(case.recipe, plan.mode) for case, plan in cells] == [
        (recipe, mode) for recipe in "ab" for mode in ("eager", "graph")
    ]
    assert len(planned(item, [EAGER], ["x-float32-b"])) == 1


def shard_of(tmp_path, *lines):
    (tmp_path / "shards").mkdir(parents=True, exist_ok=True)
    shard = Shard(tmp_path / "shards" / "a.jsonl")
    for kind, data in lines:
        shard.write(kind, **data)
    shard.close()
    return merge([tmp_path])


CELL = {"case": "x-float32-ones", "device": "cpu", "mode": "xla"}
ROW = Record(spec="x", case=CELL["case"], device="cpu", mode="xla", verdict="match").to_json()
RESULT, COMPARE = ("result", {**CELL, "records": [ROW]}), ("compare", {**CELL, "records": []})


@pytest.mark.parametrize(
    ("lines", "done"),
    [
        ([RESULT, COMPARE], 1),
        ([RESULT], 0),
        ([COMPARE], 0),
        ([("start", CELL)], 0),
        ([("result", {**CELL, "records": []}), COMPARE], 0),
    ],
)
def test_a_cell_is_done_with_a_record_and_both_of_its_lines(tmp_path, lines, done):
    merged = shard_of(tmp_path, *lines)
    assert len(merged.done) == done
    assert (merged.records_of([tuple(CELL.values())]) is not None) is bool(done)


def test_of_two_results_of_a_cell_the_last_counts(tmp_path):
    later = ("result", {**CELL, "records": [{**ROW, "verdict": "mismatch"}]})
    assert only(shard_of(tmp_path, RESULT, COMPARE, later).records).verdict == "mismatch"


@pytest.mark.parametrize(
    ("status", "at_fault", "ends"),
    [(0, False, 0), (1, False, 1), (0, True, 3), (1, True, 3), (2, True, 2), (4, True, 4), (5, True, 5), (3, False, 3)],
)
def test_a_fault_outweighs_discrepancies_and_no_other_end(status, at_fault, ends):
    assert exit_status(status, at_fault) == ends


def finished(tmp_path, *lines, status=0, known=(), faults=(), stopped="", own=None):
    """How a session of one item in one mode ends, whose shard has these lines; its exit status and info."""
    items = (Item("tf_opdiff.harness.tests.judge.verdicts.test_judging", made(), "float32"),)
    selection = Selection(
        catalog=Catalog(items),
        items=items,
        modes=("xla",),
        sweeps=True,
        known=Known(tuple(known)),
        recordings={str(n): SimpleNamespace(about=SimpleNamespace(faults=(f,))) for n, f in enumerate(faults)},
    )
    session = object.__new__(Session)
    option = SimpleNamespace(
        repro="none",
        no_cache=True,
        no_sweep=True,
        case=[],
        tier="default",
        campaign=None,
        resume=None,
        xla_cache=False,
    )
    session.config = SimpleNamespace(option=option)
    session.selection, session.directory, session.runner = selection, tmp_path, None
    session.faults, session.unsaved = [], ""
    session.info = RunInfo("r", "s", modes=["xla"], devices={"cpu": {"asked": True}})
    vars(session).update(own or {})
    shard_of(tmp_path, ("plan", {"items": ["x-float32"]}), *lines)
    return finish(session, status, stopped), session.info


def of(verdict):
    return "result", {**CELL, "records": [{**ROW, "verdict": verdict}]}


def test_a_whole_run_without_faults_ends_as_pytest_does(tmp_path):
    ended, info = finished(tmp_path / "a", RESULT, COMPARE)
    assert (ended, info.state, info.planned, info.recorded, info.not_run) == (0, "complete", 1, 1, [])
    assert finished(tmp_path / "b", of("mismatch"), COMPARE, status=1)[0] == 1


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "never started"),
        ([("start", CELL)], "cut off"),
        ([RESULT], "never started"),
        ([("result", {**CELL, "records": []}), COMPARE], "it ran, and left no record"),
    ],
)
def test_a_planned_cell_without_a_result_makes_the_run_a_fault_with_its_reason(tmp_path, lines, why):
    ended, info = finished(tmp_path, *lines)
    assert (ended, info.state, info.planned, info.recorded) == (3, "fault", 1, 0)
    assert only(info.not_run) == {**CELL, "why": why}


def test_an_error_of_the_suite_a_run_of_nothing_and_an_idle_entry_are_faults(tmp_path):
    assert finished(tmp_path / "a", of("error"), COMPARE, status=1)[0] == 3
    ended, info = finished(tmp_path / "b", of("unavailable"), COMPARE)
    assert (ended, "nothing was tested" in only(info.faults)) == (3, True)
    idle = Entry(**ENTRY | {"quantity": "output[9]"})
    assert finished(tmp_path / "c", RESULT, COMPARE, known=[idle])[0] == 3
    assert finished(tmp_path / "d", RESULT, COMPARE, faults=["a damaged recording"])[0] == 3
    assert finished(tmp_path / "e", of("error"), COMPARE, status=2)[0] == 2


def test_a_run_that_the_user_had_stop_is_at_fault_for_what_it_began_alone(tmp_path):
    ended, info = finished(tmp_path / "a", status=2, stopped="stopped by -x")
    assert (ended, info.state, only(info.not_run)["why"]) == (1, "interrupted", "stopped by -x")
    ended, info = finished(tmp_path / "b", ("start", CELL), status=2, stopped="stopped by -x")
    assert (ended, info.state, only(info.not_run)["why"]) == (3, "fault", "cut off")


def test_a_run_with_a_fault_of_its_own_or_that_cannot_be_kept_is_a_fault(tmp_path):
    unkept = finished(tmp_path / "a", RESULT, COMPARE, status=2, own={"unsaved": "the disk is full"})
    assert (unkept[0], unkept[1].faults) == (3, ["the disk is full"])
    assert finished(tmp_path / "b", RESULT, COMPARE, own={"faults": ["a thread was left behind"]})[0] == 3


def claimed(got, plan=XLA, **more):
    """The record of a claim about an output of ones."""
    topic = Topic(id="C99", title="t", program="p", origin="o")
    one = Claim(topic=topic, letter="a", says="It is so.", **{"about": ("output",)} | more)
    (case,) = made(claims=(one,), ulp={"output": 1}).cases()
    promises = claim.predictions(case, case.inputs())
    seen, wants = Observation({"output[0]": got}), expectation(case, case.inputs(), None).wants
    found = Judge(context()).against_claims(Trial("s", case, plan, seen, case.inputs()), promises, wants)
    return found[0].verdict if found else None


@pytest.mark.parametrize("more", [{}, {"denies": True}, {"refuted": {"*/xla": "it is not so"}}])
def test_a_failure_that_nobody_promised_is_no_evidence_for_or_against_a_claim(more):
    assert claimed(Result("error", code="NameError"), **more) == "error"
    assert claimed(LOST, **more) == "error"
    assert claimed(Result("error", code="INTERNAL"), **more) == "mismatch"
    assert claimed(Result("crash", code="SIGSEGV"), **more) == "mismatch"
    assert claimed(Result("hang"), **more) == "mismatch"
    assert claimed(Result("value", np.ones((7, 7), np.float32)), **more) == "error"


def test_an_error_that_a_claim_predicts_is_evidence():
    raised = Result("error", code="KeyError", message="no such key")
    assert claimed(raised, reference=lambda *_: Raises("KeyError", "no such")) == "match"
    assert claimed(raised, reference=lambda *_: Raises("KeyError", "no such"), denies=True) == "mismatch"


def test_the_claims_of_a_spec_are_among_its_records(tmp_path):
    topic = Topic(id="C99", title="t", program="p", origin="o")
    spec = made(claims=(Claim(topic=topic, letter="a", says="It is so.", about=("output",)),))
    records, merged = ran(tmp_path, spec, {EAGER: ulps(0), XLA: ulps(1)})
    found = {mode: r.verdict for (mode, against, _), r in records.items() if against == "claim:C99a"}
    assert found == {"eager": "match", "xla": "mismatch"}
    assert len(merged.records) == len(records)


def test_a_claim_is_judged_by_what_came():
    assert claimed(ulps(1)) == "match"
    assert claimed(ulps(2)) == "mismatch"
    assert claimed(ulps(2), refuted={"*/xla": "it is not so"}) == "contract"
    assert claimed(ulps(0), refuted={"*/xla": "it is not so"}) == "stale"
    assert claimed(ulps(0), reference=np.zeros_like) == "mismatch"
    assert claimed(ulps(0), reference=np.zeros_like, denies=True) == "match"
    assert claimed(ulps(0), denies=True) == "mismatch"
    assert claimed(ulps(1), ulp={}) == "mismatch"
    assert claimed(ulps(0), plans=("*/graph",)) is None


@pytest.mark.parametrize("kind", RUN_CHECKS)
def test_a_run_that_gives_something_else_again_says_what(kind):
    first, other = Result("value", np.arange(5.0)), Result("value", np.arange(5.0) + 1)
    quantities = {"output[0]": first}

    def rerun(arguments, pieces):
        assert pieces is (kind == "position")
        parts = [Result("value", x + (kind == "position")) for x in arguments.inputs]
        return ({f"output[{i}]": p for i, p in enumerate(parts)} if pieces else {"output[0]": other}), None

    after = [other if kind == "input_mutated" else first]
    found = run_self_checks([kind], Arguments([first.value]), [first.value], after, quantities, rerun)
    name = "input[0]" if kind == "input_mutated" else "output[0]"
    assert found[kind][name].value.tolist() == other.value.tolist()


def test_a_sound_run_gives_nothing_else_again():
    first = Result("value", np.array([0.0, np.nan, -1.0]))

    def rerun(arguments, pieces):
        return {f"output[{i}]": Result("value", x) for i, x in enumerate(arguments.inputs)}, None

    found = run_self_checks(RUN_CHECKS, Arguments([first.value]), [first.value], [first], {"output[0]": first}, rerun)
    assert found == {kind: {} for kind in RUN_CHECKS}


def test_a_rerun_that_fails_is_something_else():
    first, error = Result("value", np.arange(5.0)), Result("error", code="INTERNAL")
    for kind in RUN_CHECKS[1:]:
        found = run_self_checks([kind], Arguments([first.value]), [], [], {"output[0]": first}, lambda *_: ({}, error))
        assert found[kind]["output[0]"] == error


def test_a_piece_of_another_shape_is_something_else():
    first = Result("value", np.arange(5.0))

    def rerun(arguments, pieces):
        return {f"output[{i}]": Result("value", x[:1]) for i, x in enumerate(arguments.inputs)}, None

    found = run_self_checks(["position"], Arguments([first.value]), [], [], {"output[0]": first}, rerun)["position"]
    assert found["output[0]"].value.shape == (1,)
    assert PIECES[1] == (3,)


def test_what_a_case_is_held_against_goes_with_its_spec():
    xs = (np.ones(3), np.ones(3))
    assert self_checks_of(made(), xs) == RUN_CHECKS[:2]
    assert self_checks_of(made(elementwise=True), xs) == RUN_CHECKS
    assert self_checks_of(made(elementwise=True), (np.ones(3), np.ones(2))) == RUN_CHECKS[:2]
    assert self_checks_of(made(elementwise=True), (np.ones(0),)) == RUN_CHECKS[:2]
    assert self_checks_of(made(batch=()), xs) == (*RUN_CHECKS[:2], *ROW_CHECKS)
    assert self_checks_of(made(state=lambda tf, x: {}), xs) == RUN_CHECKS[:1]


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (Result("value", np.array([1.0, np.nan])), True),
        (Result("value", np.array([1.0, -np.nan])), True),
        (Result("value", np.array([1.0, np.nan], np.float32)), False),
        (Result("value", np.array([[1.0, np.nan]])), False),
        (Result("value", np.array([1.0, 0.0])), False),
        (Result("unconnected"), False),
        (Result("error", code="INTERNAL"), False),
        (Result("sparse", np.array([1.0, np.nan]), np.array([0, 1])), False),
    ],
)
def test_results_are_the_same_bit_for_bit(other, alike):
    assert same(Result("value", np.array([1.0, np.nan])), other) is alike


def test_errors_of_other_codes_and_sparse_results_of_other_places_are_not_the_same():
    assert not same(Result("error", code="A"), Result("error", code="B"))
    one, other = (Result("sparse", ONE[:2], np.array([0, n]), (5,)) for n in (1, 2))
    assert not same(one, other)
    assert not same(one, replace(one, shape=(6,)))


def test_one_that_is_off_by_less_than_the_budget_is_no_difference_and_counts_for_the_distance():
    got = np.array([1 + 2.0**-23, 1 + 3 * 2.0**-23], np.float32)
    found = compare_arrays(got, np.ones(2), got.dtype, budget=3)
    assert (found.kind, found.max_ulp, found.max_abs, found.mismatched) == ("", 3, 3 * 2.0**-23, 0)
    found = compare_arrays(got, np.ones(2), got.dtype, budget=2.5)
    assert (found.kind, found.index, found.mismatched) == ("value", (1,), 1)
