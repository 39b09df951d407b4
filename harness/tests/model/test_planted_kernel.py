"""A kernel that is wrong on one device is named, whichever op of the program runs it."""

from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.tests.model.planted_kernel import plant, planting

#: Processes with a setting of the import are forks of one that starts in their environment, and so loads the library.
FAULTY = Plan(Device("cpu", 1, ("noonednn",)), "eager")


def test_the_first_op_whose_kernel_is_wrong_is_named(analysis_of, tmp_path):
    file = tmp_path / "fault"
    with analysis_of("layers") as analysis, planting(file):
        for kind, fault in (("MatMul", "scale"), ("Tanh", "one")):
            plant(file, kind, (3, 4), fault)
            answer = analysis.answer(FAULTY)
            wrong = [op.number for op in analysis.recording.ops if op.type == kind]
            assert answer.kind == "alone"
            assert answer.ops == (wrong[0],)
