"""The verb `model` exits with 0 without a difference, with 1 with one, and says in one line why it can't run."""

import csv

import pytest


def test_the_status_says_whether_something_differs(run, capsys, masked_root):
    assert run("planted_programs:clean", "--mode", "function") == 0
    assert "cpu/function against cpu/eager: " in capsys.readouterr().out
    assert masked_root.status == 1
    assert "cpu/xla against cpu/eager: " in masked_root.output


def test_the_table_has_the_errors_of_each_op(masked_root):
    rows = list(csv.DictReader(masked_root.table.splitlines()))
    assert [int(row["op"]) for row in rows] == list(range(1, len(rows) + 1))
    (gradient,) = (row for row in rows if row["type"] == "SqrtGrad")
    assert rows[int(gradient["gradient_of"]) - 1]["type"] == "Sqrt"
    assert (gradient["own_error"], gradient["kinds"]) == ("inf", "nan")
    assert gradient["file"].endswith("planted_programs.py")


@pytest.mark.parametrize(
    ("subject", "options", "says"),
    [
        ("planted_programs", (), "'planted_programs': expected MODULE:NAME"),
        ("planted_programs:absent", (), "has no attribute 'absent'"),
        ("planted_programs:fails", (), "AttributeError"),
        ("planted_programs:os", (), "expected a function of tensors, a model of Keras"),
        ("planted_programs:clean", ("--device", "gpu:7"), "device gpu:7 is not there"),
        ("planted_programs:clean", ("--steps", "0"), "--steps: expected a whole number of steps from 1"),
        ("planted_programs:clean", ("--device", "gpu-7"), "device 'gpu-7': expected TYPE or TYPE:INDEX"),
        ("planted_programs:clean", ("--input", "absent.npz"), "absent.npz: there is no such file"),
        ("planted_programs:clean", ("--input", __file__), f"{__file__}: expected a file of np.savez"),
    ],
)
def test_a_program_that_cannot_be_analysed_is_wrong_usage(run, capsys, subject, options, says):
    assert run(subject, *options) == 4
    error = capsys.readouterr().err.strip()
    assert says in error
    assert "\n" not in error
