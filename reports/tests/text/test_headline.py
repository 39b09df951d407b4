"""The first two lines of a report say what is wrong, where, and give the simplest example."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.causes.discrepancies import discrepancies
from tf_opdiff.reports.tests.data.test_table import frame
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.sentences import markdown, summary
from tf_opdiff.reports.text.sentences.headline import headline

WHOLE = RunInfo(run="r", started="", state="complete")


def rows(**fields: Any) -> list[Record]:
    """Records of two dtypes of a spec under four plans. All match; `fields` replaces fields where the mode is xla."""
    made = synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])
    made = [replace(row, against="numpy", quantity="output[0]") for row in made]
    made += [replace(row, dtype="float16", case="ceil-float16-edges") for row in made]
    return [replace(row, **fields) if row.mode == "xla" else row for row in made]


WRONG = {"verdict": "mismatch", "kind": "value", "example": "input -0.5, got -0.0, want -1.0", "example_index": "[3]"}


def lines(*some: Record, info: RunInfo = WHOLE, before: tuple[Record, ...] | None = None) -> list[str]:
    """The headline of a run with these records, and with those of the previous run."""
    records = frame(*some)
    return headline(records, info, discrepancies(records, {}, None if before is None else frame(*before)))


def test_a_run_without_discrepancies_says_where_it_ran() -> None:
    info = replace(WHOLE, tf="2.21.0", devices={"cpu": {"asked": True}, "gpu:0": {"asked": False}})
    assert lines(*rows(), info=info) == ["TensorFlow 2.21.0 on the CPU: no discrepancy."]
    assert lines(*rows(), info=replace(info, state="interrupted"))[0].startswith("Partial run. TensorFlow 2.21.0")
    assert headline(frame(rows()[0]).iloc[:0], info, []) == []


def test_a_remote_device_with_another_tensorflow_is_named_with_it() -> None:
    remote = {"asked": True, "server": "tf218", "device": "cpu", "tensorflow": "2.18.1", "host": "box"}
    devices = {"cpu": {"asked": True, "oneDNN": "on"}, "tf218": remote | {"oneDNN": "off"}}
    info = replace(WHOLE, tf="2.21.0", devices=devices)
    assert lines(*rows(), info=info) == ["TensorFlow 2.21.0 on the CPU and tf218 (TensorFlow 2.18.1): no discrepancy."]
    said = summary.terminal(frame(*rows()), info, [])
    expected = "devices: cpu (oneDNN on), tf218 (TensorFlow 2.18.1 on box, oneDNN off); not requested: none"
    assert expected in said
    same = replace(info, devices=devices | {"tf218": remote | {"tensorflow": "2.21.0"}})
    assert lines(*rows(), info=same) == ["TensorFlow 2.21.0 on the CPU and tf218: no discrepancy."]


def test_known_discrepancies_are_counted_even_where_nothing_fails() -> None:
    known = rows(verdict="known", kind="value", reason="since ever", max_ulp=1e6)
    first, second = lines(*known)
    assert first == "TensorFlow of unknown version: 1 known discrepancy."
    assert second == "Silently wrong value: 1."
    assert lines(*known, before=tuple(known))[0].endswith(": 1 known discrepancy, none new.")
    assert lines(*known, before=tuple(rows()))[0].endswith(": 1 known discrepancy, 1 new.")


def test_the_most_severe_failure_comes_first_and_not_the_most_frequent() -> None:
    frequent = rows(**WRONG | {"max_ulp": 2.0})
    dead = replace(rows()[0], spec="round", verdict="mismatch", kind="crash", example="", detail="signal 6")
    first, second = lines(*frequent, dead)
    assert first.startswith("round crashes everywhere: on cpu/eager") and first.endswith("1 more finding below.")
    assert second.startswith("Example: signal 6 (ceil-float32-edges")


def test_where_it_fails_is_said_of_where_it_ran() -> None:
    first, second = lines(*rows(**WRONG))
    assert first == "ceil gives wrong values on cpu/xla (1 of 4 plans), in both dtypes."
    assert second == (
        "Example: input -0.5, got -0.0, want -1.0 (ceil-float32-edges, output[0] on cpu/xla, against numpy)."
    )
    everywhere = [replace(row, **WRONG) for row in rows()]
    assert lines(*everywhere)[0] == "ceil gives wrong values everywhere: on all 4 plans, in both dtypes."


def test_a_gradient_is_named_and_a_partial_run_and_other_findings_are_not_hidden() -> None:
    some = rows(**WRONG | {"quantity": "grad[0]", "max_ulp": 1e6})
    some[0] = replace(some[0], verdict="mismatch", kind="nan")
    first, _ = lines(*some, info=replace(WHOLE, state="interrupted"))
    assert first.startswith("Partial run: The gradient of ceil gives wrong values on cpu/xla")
    assert first.endswith(". 1 more finding below.")


@pytest.mark.parametrize("verdict", ["mismatch", "stale", "error"])
def test_every_failing_run_begins_its_reports_with_them(tmp_path: Path, verdict: str) -> None:
    some = rows(**WRONG | {"verdict": verdict})
    info = synthetic.write(tmp_path, some)
    records = reports.load(tmp_path)
    ranked = discrepancies(records, {})
    first, second = headline(records, info, ranked)
    assert "ceil" in first and "input -0.5" in second
    assert summary.terminal(records, info, ranked)[:2] == [first, second]
    text = markdown.summary(records, info, ranked).replace("\\", "").splitlines()
    assert text[:3] == [f"**{first}**", "", second]
