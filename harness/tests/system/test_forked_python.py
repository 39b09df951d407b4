"""A program in a fork of the fork server ends as in a process of its own."""

import os

import pytest

from tf_opdiff.harness.tests.forked_python import forked_python


@pytest.mark.parametrize(
    ("program", "status", "stderr"),
    [
        ("import sys; print(sys.argv[1:], 'tensorflow' in sys.modules)", 0, ""),
        ("import sys; print(sys.argv[1:], True); sys.exit(3)", 3, ""),
        ("import sys; print(sys.argv[1:], True); 1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("import os, sys; print(sys.argv[1:], True, flush=True); os.abort()", "SIGABRT", ""),
    ],
)
def test_a_program_has_its_words_its_output_and_its_status(program, status, stderr):
    done = forked_python("-c", program, "a", "b")
    assert (done.returncode, done.stdout) == (status, "['a', 'b'] True\n")
    assert (done.stderr.splitlines() or [""])[-1] == stderr


def test_a_file_and_a_module_run_as_the_main_program(tmp_path):
    (tmp_path / "own.py").write_text("import os; print(__name__, os.getcwd())")
    done = forked_python(str(tmp_path / "own.py"), cwd=tmp_path)
    assert done.stdout == f"__main__ {tmp_path}\n", done.stderr
    assert forked_python("-m", "platform", "--terse").stdout.startswith(os.uname().sysname)
