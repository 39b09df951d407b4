"""What a script printed is compared with the result of its record."""

import pytest

from tf_opdiff.harness.repro.script_runs.shown import judged
from tf_opdiff.harness.store.records.record import Record

ELEMENT = (
    "got  float32[2] array([...])\nwant float64[2] array([...])\nthey differ in 1 of 2 elements, such as [1]: {}, {}\n"
)


@pytest.mark.parametrize(
    ("record", "output", "why"),
    [
        (Record(kind="value", got="1.5"), ELEMENT.format("1.5", "2.0"), ""),
        (Record(kind="value", got="9.0", example="input 0, got 1.5, want 2.0"), ELEMENT.format("1.5", "2.0"), ""),
        (Record(kind="value", got="1.5"), ELEMENT.format("1.50001", "2.0"), "it printed 1.50001, 2.0"),
        (Record(kind="nan", got="nan"), ELEMENT.format("nan", "2.0"), ""),
        (Record(kind="nan", got="0.0"), ELEMENT.format("-0.0", "nan"), ""),
        (Record(kind="nan", got="0.0"), ELEMENT.format("-0.05", "nan"), "it printed -0.05, nan"),
        (Record(kind="signed_zero", got="0.0"), ELEMENT.format("-0.0", "0.0"), "it printed -0.0, 0.0"),
        (Record(kind="value", got="1.5"), "got  ValueError: no\nwant array([2.])", "it got ValueError, and no array"),
        (Record(kind="value", got="1.5"), "", "it printed no result"),
        (Record(kind="status", got="error INTERNAL"), "got  INTERNAL: x", ""),
        (
            Record(kind="status", got="error INTERNAL"),
            "got  NameError: name 'Any'",
            "it got NameError, not error INTERNAL",
        ),
        (Record(kind="status", got="value float32[3]"), "got  float32[3] array([1., 2., 3.])", ""),
        (Record(kind="status", got="value float32[3]"), "got  TypeError: x", "it got TypeError, not value float32[3]"),
        (Record(kind="error_code", got="ValueError"), "got  TypeError: x", "it got TypeError, not ValueError"),
        (Record(kind="gradient_status", got="unconnected"), "got  None", ""),
        (Record(kind="gradient_status", got="0.0"), "got  float32[1] array([0.])", ""),
        (Record(kind="shape", got="(2, 0)"), "got  float32[2, 0] array([])", ""),
        (Record(kind="shape", got="(2,)"), "got  float32[2, 0] array([])", "it got the shape (2, 0), not (2,)"),
        (Record(kind="dtype", got="int64"), "got  uint64[1] array([0])", "it got uint64, not int64"),
    ],
)
def test_a_difference_counts_only_with_the_result_of_the_record(record, output, why):
    status, reason = judged("EXIT 1", record, output)
    assert status == ("not reproduced" if why else "reproduced")
    assert reason.startswith(why)
    assert bool(reason) == bool(why)


@pytest.mark.parametrize(
    ("exit_name", "output", "status", "why"),
    [
        ("EXIT 0", "", "not reproduced", "it shows no difference in a process of its own"),
        ("EXIT 70", "Traceback\nNameError: name 'Any'\n", "failed", "it failed with NameError: name 'Any'"),
        ("SIGSEGV", "", "failed", "it ended with SIGSEGV: the process crashed by a wrong memory access"),
        ("EXIT 3", "", "failed", "it ended with EXIT 3"),
    ],
)
def test_a_script_that_shows_nothing_says_why(exit_name, output, status, why):
    assert judged(exit_name, Record(kind="value", got="1.0"), output) == (status, why)
