"""Of a result that nothing documents, only a crash fails; a difference between plans is in the record."""

import numpy as np
import pytest

from tf_opdiff.harness.cases.item_judge import ItemJudge
from tf_opdiff.harness.cases.running_case import RunningCase
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.judge.verdicts.verdict import Context, Judge, Origin, Trial
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Side, Spec, Undocumented
from tf_opdiff.harness.store.formats.plain_values import decode, encode

EAGER, XLA = (Plan(Device("cpu"), mode) for mode in ("eager", "xla"))
WHY = "nothing says which"
ONES, TWOS = (Result("value", np.full(3, n, np.float32)) for n in (1, 2))
REFUSED, ALSO_REFUSED = (Result("error", code=code, message="no") for code in ("INVALID_ARGUMENT", "ValueError"))
CRASHED = Result("crash", code="SIGABRT")


def spec(promise, **more):
    recipes = {"ones": lambda draw, dtype: (np.ones(3, dtype),)}
    return Spec(name="x", program=lambda tf, x: x, reference=lambda x: promise, recipes=recipes, ops="", **more)


def records(result, base=None, promise=None, more=()):
    """The records of a result against NumPy, or against the result of eager mode."""
    (case, *_) = spec(promise or Undocumented(WHY)).cases()
    wants = expectation(case, case.inputs(), None).wants
    if base:
        wants = {"output[0]": wants["output[0]"].from_other(base, wants["output[0]"])}
    quantities = {f"output[{i}]": each for i, each in enumerate((result, *more))}
    judge = Judge(Context(run="r", started="s", here=Origin("2.21.0"), known=Known(())))
    trial = Trial("suite", case, XLA, Observation(quantities), case.inputs())
    return judge.against_promises(trial, wants, EAGER if base else None)


@pytest.mark.parametrize("result", [ONES, REFUSED])
def test_a_value_and_an_error_break_no_promise_and_match_none(result):
    (record,) = records(result)
    assert (record.verdict, record.kind, record.reason) == ("contract", "", WHY)


@pytest.mark.parametrize("base", [None, ONES, REFUSED])
def test_a_crash_fails(base):
    (record,) = records(CRASHED, base)
    assert (record.verdict, record.kind) == ("mismatch", "crash")


@pytest.mark.parametrize(("result", "base"), [(ONES, TWOS), (ONES, REFUSED), (REFUSED, ONES)])
def test_a_difference_between_plans_is_in_the_record(result, base):
    (record,) = records(result, base)
    assert (record.verdict, record.kind, record.reason) == ("contract", "", WHY)
    assert "results differ" in record.detail and record.got != record.want and record.want


@pytest.mark.parametrize(("result", "base"), [(ONES, ONES), (REFUSED, ALSO_REFUSED)])
def test_plans_that_agree_are_no_difference(result, base):
    (record,) = records(result, base)
    assert record.verdict == "contract" and "differ" not in record.detail


@pytest.mark.parametrize("base", [None, REFUSED, ONES])
def test_further_outputs_are_as_free_as_the_first(base):
    assert [record.verdict for record in records(ONES, base, more=(TWOS,))] == ["contract", "contract"]


@pytest.mark.parametrize(("result", "verdict"), [(ONES, "contract"), (REFUSED, "mismatch"), (CRASHED, "mismatch")])
def test_an_error_can_be_ruled_out(result, verdict):
    (record,) = records(result, promise=Undocumented(WHY, error=False))
    assert record.verdict == verdict


@pytest.mark.parametrize("came", [TWOS, REFUSED])
def test_a_plan_without_a_promise_is_compared_with_one_that_has_one(came):
    link = "https://www.tensorflow.org/xla/known_issues"
    side = Side(reference=lambda x: Undocumented(WHY), why=WHY, link=link)
    item = Item("suite", spec(np.ones(3, np.float32), contract={"*/xla": side}), "float32")
    running = RunningCase.of(item, item.cases[0], [EAGER, XLA])
    running.observations = {plan: Observation({"output[0]": result}) for plan, result in ((EAGER, ONES), (XLA, came))}
    judge = ItemJudge(Context(run="r", started="s", here=Origin("2.21.0"), known=Known(())), item, "")
    (record,) = (r for line in judge.compared(running) for r in line.records if r.against == "cpu/eager" != r.plan)
    assert (record.plan, record.verdict, record.kind, record.reason, record.link) == (
        "cpu/xla",
        "contract",
        "",
        WHY,
        link,
    )
    assert "results differ" in record.detail and record.got != record.want and record.want


def test_a_rerun_may_differ():
    (case, *_) = spec(Undocumented(WHY)).cases()
    seen = Observation({"output[0]": ONES}, again={"nondeterministic": {"output[0]": TWOS}})
    wants = expectation(case, case.inputs(), None).wants
    judge = Judge(Context(run="r", started="s", here=Origin("2.21.0"), known=Known(())))
    (record,) = judge.against_itself(Trial("suite", case, XLA, seen, case.inputs()), wants)
    assert (record.verdict, record.kind) == ("contract", "") and "nondeterministic" in record.detail


@pytest.mark.parametrize("base", [None, ONES, REFUSED])
def test_an_output_that_is_none_fails(base):
    (record,) = records(Result("unconnected"), base)
    assert (record.verdict, record.kind) == ("mismatch", "status")


def test_it_can_be_stored():
    assert decode(encode(Undocumented(WHY, error=False))) == Undocumented(WHY, error=False)
