"""The setting on which a difference depends is found by replays with and without it."""

import csv

import numpy as np
import pytest

from tf_opdiff.harness.repro.trials.setting_trials import GONE, SHOWN
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.model.answers.answer import lines
from tf_opdiff.model.setting import both_sides, trials_of, under, with_setting


@pytest.fixture
def setting_of(analysis_of):
    """setting_of(NAME, MODE, DEVICE) → the answer about a planted program, and its lines."""

    def answer(name, mode="xla", device="cpu", **inputs):
        plan = Plan(Device.parse(device), mode)
        with analysis_of(name, **inputs) as analysis:
            made = with_setting(analysis, plan, analysis.answer(plan))
            return made, "\n".join(lines(made, analysis.recording))

    return answer


def test_a_rewriter_of_grappler_is_named(setting_of):
    answer, text = setting_of("added_and_subtracted", "function")
    assert answer.switch == "norewriter=constant_folding"
    assert "setting: Grappler's rewriter constant_folding: " in text


def test_a_kernel_that_differs_under_all_settings_has_none(masked_root):
    says = "setting: none of the 5 that were tried: a kernel or a lowering causes the difference"
    assert says in masked_root.output
    (gradient,) = (row for row in csv.DictReader(masked_root.table.splitlines()) if row["type"] == "SqrtGrad")
    assert gradient["setting"] == "none"


def test_an_op_that_ends_its_process_under_all_settings_has_none(setting_of):
    answer, _ = setting_of("random_float16")
    assert answer.switch == "none"


def trials(device, mode, statuses, default=SHOWN):
    """The trials of a difference with these statuses by device; a list has one status for each try."""
    given = {name: list(each) if isinstance(each, list) else each for name, each in statuses.items()}

    def status(plan):
        each = given.get(str(plan.device), default)
        return each.pop(0) if isinstance(each, list) else each

    return trials_of(Plan(Device.parse(device), mode), status)


def test_a_setting_of_the_device_itself_is_taken_away():
    made = trials("gpu:0+tf32", "eager", {"gpu:0": GONE})
    assert made.switch == "without tf32"
    assert under(Device.parse("gpu:0+tf32"), made.switch) == Device.parse("gpu:0")


def test_settings_that_contradict_the_device_are_not_tried():
    made = trials("cpu+onednn", "eager", {})
    assert set(made.tried) == {"", "without onednn", "deterministic"}
    made = trials("cpu+nohlo=cse", "xla", {})
    assert set(made.tried) == {"", "without nohlo=cse", "noexcess", "nofma"}


def test_a_difference_that_comes_and_goes_depends_on_no_setting():
    assert trials("cpu", "xla", {"cpu": [SHOWN, GONE], "cpu+noexcess": GONE}).switch == ""
    assert trials("cpu", "xla", {"cpu": GONE}).tried == {"": GONE}


def test_settings_of_eager_mode_are_tried_where_none_of_the_plan_matters():
    def status(plan, base):
        return GONE if str(base) == "cpu+noonednn/eager" else SHOWN

    assert both_sides(Plan(Device("cpu"), "xla"), status).switch == "cpu+noonednn/eager"


def test_a_trial_that_fails_is_reported():
    trials = both_sides(Plan(Device("cpu"), "xla"), lambda plan, _: "failed: why" if "nofma" in str(plan) else SHOWN)
    assert trials.switch == ""
    assert trials.failed == {"nofma": "why"}


def test_a_trace_that_differs_depends_on_no_setting(setting_of):
    answer, text = setting_of("branch")
    assert answer.switch == "none"
    assert "setting: none: the trace has the difference" in text


def test_one_pass_after_the_other_is_turned_off_until_the_difference_vanishes():
    made = trials("cpu", "xla", {"cpu+nohlo=all": GONE, "cpu+nohlo=fusion": GONE})
    assert made.switch == "nohlo=fusion"
    assert [name for name in made.tried if name.startswith("nohlo")] == [
        *("nohlo=all", "nohlo=algsimp", "nohlo=simplify-fp-conversions", "nohlo=fusion")
    ]


def test_a_setting_under_which_the_trial_fails_is_not_the_cause():
    assert trials("cpu", "xla", {"cpu+nofma": "failed"}).switch == ""


ALGSIMP = "setting: XLA's pass algsimp: the difference is there on cpu, and not on cpu+nohlo=algsimp"


def test_a_rewrite_is_named_by_its_pass_in_the_output_and_in_the_rows_of_its_ops(run, capsys, tmp_path):
    np.savez(tmp_path / "large.npz", x=np.float32([1, 100]))
    inputs = ("--input", str(tmp_path / "large.npz"))
    run("planted_programs:log_of_exp", "--mode", "xla", "--table", str(tmp_path / "ops.csv"), *inputs)
    assert ALGSIMP in capsys.readouterr().out
    with (tmp_path / "ops.csv").open(newline="") as text:
        rows = {row["type"]: row["setting"] for row in csv.DictReader(text)}
    assert rows == {"Mul": "", "Exp": "nohlo=algsimp", "Log": "nohlo=algsimp", "AddV2": ""}
