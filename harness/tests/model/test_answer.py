"""An analysis names the planted op, and no op where nothing differs."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.model.answers.answer import lines


@pytest.mark.parametrize(("mode", "device"), [("xla", "cpu"), ("eager", "cpu"), ("eager", "cpu:1")])
def test_clean_pairs_give_no_op(answer_of, mode, device):
    _, answer = answer_of("clean", mode, device)
    assert answer.kind in ("same", "rounding")
    assert not answer.ops
    assert not answer.differs


def test_a_step_of_training_without_a_fault_gives_no_op(answer_of):
    rng = np.random.default_rng(0)
    inputs = {"x": rng.normal(size=(5, 4)).astype("f4"), "y": np.ones((5, 1), "f4")}
    _, answer = answer_of("network", steps=3, **inputs)
    assert answer.kind in ("same", "rounding")
    assert all(report.comparisons or report.skipped for report in answer.reports), "each op ran, or says why not"


def test_the_op_that_differs_alone_is_named_with_its_forward_op_and_line(answer_of):
    recording, answer = answer_of("masked_root")
    assert answer.kind == "alone"
    (number,) = answer.ops
    assert recording.ops[number].type == "SqrtGrad"
    text = "\n".join(lines(answer, recording))
    assert "SqrtGrad, in the gradient of Sqrt (planted_programs.py:" in text
    assert "nan in 3 of 12, at [0, 0]: got nan, want 0.0" in text


def test_an_op_that_ends_its_process_is_named_and_the_other_ops_are_replayed(answer_of):
    recording, answer = answer_of("random_float16")
    assert answer.kind == "alone"
    (number,) = answer.ops
    assert recording.ops[number].type == "StatefulTruncatedNormal"
    assert "crash" in answer.reports[number].failure
    assert len(answer.reports) == len(recording.ops)
    assert answer.reports[-1].comparisons, "the ops behind it are replayed too"


def test_a_program_that_ends_its_process_is_an_answer(answer_of):
    _, answer = answer_of("aborts_when_traced", "function")
    assert answer.kind == "fails"
    assert "SIGABRT" in answer.detail


@pytest.mark.parametrize(
    ("name", "types"), [("log_of_exp", ["Exp", "Log"]), ("added_and_subtracted", ["AddV2", "Sub"])]
)
def test_ops_that_differ_only_together_are_shrunk_to_the_fewest(answer_of, name, types):
    recording, answer = answer_of(name)
    assert answer.kind == "together"
    assert [recording.ops[n].type for n in answer.ops] == types


@pytest.mark.parametrize("mode", ["function", "xla"])
def test_a_python_branch_on_the_mode_is_named_by_its_operand(answer_of, mode):
    recording, answer = answer_of("branch", mode)
    assert answer.kind == "retraced"
    (number,) = answer.ops
    assert recording.ops[number].type == "Mul"
    assert answer.detail == "its operand 1 is 2.0 in eager mode and 3.0 in the trace"


def test_an_op_that_fills_a_constant_is_no_difference_of_the_trace(answer_of):
    recording, answer = answer_of("filled", "function")
    assert answer.kind == "retraced"
    assert [recording.ops[n].type for n in answer.ops] == ["Mul"]
    assert "Fill" in [op.type for op in recording.ops]


def test_an_attribute_that_depends_on_the_mode_is_named(answer_of):
    recording, answer = answer_of("slope", "function")
    assert answer.kind == "retraced"
    assert answer.ops == ([op.number for op in recording.ops if op.type == "LeakyRelu"][1],)
    assert "its attribute alpha is 0.3 in eager mode and 0.1 in the trace" in answer.detail


def test_a_custom_gradient_that_depends_on_the_mode_is_named(answer_of):
    recording, answer = answer_of("doubled_gradient", "function")
    assert answer.kind == "retraced"
    assert answer.detail == "its operand 1 is 1.0 in eager mode and 2.0 in the trace"
    assert recording.ops[answer.ops[0]].place.line


def test_rounding_that_a_subtraction_amplifies_is_named_with_both_places(answer_of):
    recording, answer = answer_of("amplified", x=np.linspace(4, 9, 1000, dtype=np.float32))
    assert answer.kind == "amplified"
    assert answer.differs
    text = "\n".join(lines(answer, recording))
    assert "rounding grows most in op 2 of 2, Sub (planted_programs.py:" in text
    assert "it comes from op 1 of 2, Tanh" in text


def test_a_result_that_lost_its_digits_is_no_agreement_although_rounding_explains_it(answer_of):
    x = (3000 + np.random.default_rng(0).normal(size=(4, 1000))).astype("f4")
    recording, answer = answer_of("variance", x=x)
    assert answer.kind == "amplified"
    assert answer.differs
    assert recording.ops[answer.ops[0]].type == "Sub"


def test_a_program_that_is_another_one_for_xla_alone_is_named(answer_of):
    recording, answer = answer_of("scaled_for_xla")
    assert answer.kind == "retraced"
    assert recording.ops[answer.ops[0]].type == "Mul"
    assert answer.detail == "its operand 1 is 1.0 in eager mode and 1.100000023841858 in the trace"


@pytest.mark.parametrize("mode", ["function", "xla"])
def test_a_difference_of_the_trace_that_changes_no_value_is_no_answer(answer_of, mode):
    recording, answer = answer_of("behind_harmless_differences", mode)
    assert answer.kind == "retraced"
    assert recording.ops[answer.ops[0]].number == len(recording.ops) - 1
    _, answer = answer_of("harmless_differences", mode)
    assert answer.kind in ("same", "rounding")


def test_an_error_of_eager_mode_against_a_value_is_named(answer_of):
    recording, answer = answer_of("chosen")
    assert answer.kind == "fails"
    op = recording.ops[answer.ops[0]]
    assert (op.type, op.place.file.rpartition("/")[2]) == ("GatherV2", "planted_programs.py")
    assert "indices[0] = 7 is not in [0, 3)" in answer.detail


@pytest.mark.parametrize("mode", ["function", "xla"])
def test_an_error_while_tracing_is_named_by_the_ops_of_its_line(answer_of, mode):
    recording, answer = answer_of("asks_for_a_number", mode)
    assert answer.kind == "fails"
    assert recording.ops[answer.ops[0]].type == "Max"


def test_a_traced_loop_is_compared_by_its_body(answer_of):
    _, answer = answer_of("looped", "function")
    assert answer.kind in ("same", "rounding")


def test_ops_of_a_tangent_are_recorded(answer_of):
    recording, answer = answer_of("tangent", "function")
    assert answer.kind == "retraced"
    op = recording.ops[answer.ops[0]]
    assert (op.type, op.place.file.rpartition("/")[2]) == ("Mul", "planted_programs.py")


def test_the_first_step_that_differs_is_the_one_whose_ops_are_named(analysis_of):
    with analysis_of("wrong_in_the_second_step", steps=3) as analysis:
        answer = analysis.answer(Plan(Device("cpu"), "function"))
        assert (answer.kind, answer.step) == ("retraced", 1)
        assert analysis.recordings[1].ops[answer.ops[0]].type == "Mul"


def test_the_ops_of_a_saved_model_are_recorded_and_replayed(answer_of):
    recording, answer = answer_of("saved_model")
    assert answer.kind == "together"
    assert [recording.ops[n].type for n in answer.ops] == ["Exp", "Log"]
    assert any(result.name == "y" for result in answer.results)


def test_a_wrong_gradient_of_a_layer_is_named_in_a_step_of_training(answer_of):
    inputs = {"x": np.eye(4, dtype=np.float32), "y": np.ones((4, 1), np.float32)}
    recording, answer = answer_of("network_with_a_wrong_gradient", **inputs)
    assert answer.kind == "retraced"
    assert answer.detail == "its operand 1 is 1.0 in eager mode and 2.0 in the trace"
    (number,) = answer.ops
    assert recording.ops[number].type == "Mul"
    assert recording.ops[number].place.file.endswith("planted_programs.py")


def test_a_program_that_gives_other_results_is_an_answer(answer_of):
    _, answer = answer_of("another_result_when_traced", "function")
    assert answer.kind == "fails"
    assert "it gives other results: 0 output[1]" in answer.detail


@pytest.mark.parametrize("mode", ["function", "xla"])
def test_a_loop_that_goes_on_in_the_trace_is_named_by_its_condition(answer_of, mode):
    recording, answer = answer_of("goes_on", mode)
    assert answer.kind == "retraced"
    assert recording.ops[answer.ops[0]].type == "Less"


def test_an_op_is_named_although_a_later_one_of_its_type_hides_its_effect(answer_of):
    recording, answer = answer_of("hides_its_first_maximum", x=np.float32([[1, np.nan, 2]]))
    assert answer.kind == "alone"
    assert recording.ops[answer.ops[0]].type == "Max"


@pytest.mark.parametrize("mode", ["function", "xla"])
def test_the_trace_of_the_gradient_of_a_loop_is_compared(answer_of, mode):
    recording, answer = answer_of("doubled_gradient_of_a_loop", mode)
    assert answer.kind == "retraced"
    assert recording.ops[answer.ops[0]].type == "Mul"


def test_a_program_with_a_state_in_python_is_not_said_to_make_rounding_large(answer_of):
    _, answer = answer_of("counting", "function", steps=3)
    assert answer.kind in ("retraced", "unexplained")


def test_a_program_that_makes_variables_in_each_run_fails_with_the_error_of_tensorflow(answer_of):
    _, answer = answer_of("variable_in_each_run", "function", steps=2)
    assert answer.kind == "fails"
    assert "singleton tf.Variables" in answer.detail
