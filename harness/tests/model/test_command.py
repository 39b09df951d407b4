"""The verb `model` exits with 0 without a difference, with 1 with one, and says in one line why it can't run."""

import csv

import pytest


@pytest.mark.parametrize(("name", "mode", "status"), [("clean", "function", 0), ("masked_root", "xla", 1)])
def test_the_status_says_whether_something_differs(run, capsys, name, mode, status):
    assert run(f"planted_programs:{name}", "--mode", mode) == status
    assert f"cpu/{mode} against cpu/eager: " in capsys.readouterr().out


def test_the_table_has_the_errors_of_each_op(run, tmp_path):
    run("planted_programs:masked_root", "--mode", "xla", "--table", str(tmp_path / "ops.csv"))
    with (tmp_path / "ops.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
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
