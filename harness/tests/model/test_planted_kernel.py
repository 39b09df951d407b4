"""A kernel that is wrong on one device is named, whichever op of the program runs it."""

from tf_opdiff.harness.tests.model.planted_kernel import planted


def test_the_first_op_whose_kernel_is_wrong_is_named(analysis_of):
    with analysis_of("layers") as analysis:
        for kind, fault in (("MatMul", "scale"), ("Tanh", "one")):
            with planted(kind, (3, 4), fault) as plan:
                answer = analysis.answer(plan)
            wrong = [op.number for op in analysis.recording.ops if op.type == kind]
            assert answer.kind == "alone"
            assert answer.ops == (wrong[0],)
