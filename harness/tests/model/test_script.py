"""A program of the ops that an answer names runs by itself, and shows what eager mode and the other mode give."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.tests.forked_python import forked_python
from tf_opdiff.harness.tests.model.conftest import INPUTS
from tf_opdiff.model.answers.answer import Answer

XLA = Plan(Device("cpu"), "xla")


def run(file):
    """The lines that a program prints."""
    assert "tf_opdiff" not in file.read_text()
    done = forked_python(str(file), cwd=file.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_program_of_an_op_shows_the_difference(analysis_of, tmp_path):
    file = tmp_path / "op.py"
    with analysis_of("masked_root", x=np.float32([0, 1, 4])) as analysis:
        answer = analysis.answer(XLA)
        assert not analysis.write_script(XLA, answer, file)
    assert [line.split() for line in run(file)] == [
        ["eager"],
        ["[0.", "0.5", "0.25]"],
        ["xla"],
        ["[", "nan", "0.5", "0.25]"],
    ]


@pytest.mark.parametrize("size", [3, 300], ids=["in the program", "in a file beside it"])
def test_a_program_of_several_ops_computes_what_the_users_does(analysis_of, tmp_path, size):
    file, x = tmp_path / "ops.py", np.tile(INPUTS["x"], (size // 3, 1)) / 8
    with analysis_of("joined", x=x) as analysis:
        ops = tuple(op.number for op in analysis.recording.ops if not op.unplayable)
        assert not analysis.write_script(XLA, Answer(plan="cpu/xla", kind="together", ops=ops), file)
    both = np.concatenate([x, np.trunc(x * 3)], axis=1)
    eager = " ".join(run(file)).partition("xla")[0].removeprefix("eager").strip(" []").split()
    if size == 3:
        assert np.allclose(np.float32(eager), (both @ both.T).sum(axis=0), rtol=1e-4)
    assert file.with_suffix(".npz").exists() == (size == 300)


def test_an_op_that_changes_a_variable_has_no_program(analysis_of, tmp_path):
    with analysis_of("random_float16") as analysis:
        number = next(op.number for op in analysis.recording.ops if op.updates)
        why = analysis.write_script(XLA, Answer(plan="cpu/xla", kind="alone", ops=(number,)), tmp_path / "op.py")
    assert "StatefulTruncatedNormal changes a variable" in why
