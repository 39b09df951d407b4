"""The first two lines of a report say what is wrong, where, and give the simplest example."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.record import Record
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.reports.tests import synthetic
from tf_opdiff.reports.tests.data.test_table import frame
from tf_opdiff.reports.text import markdown, summary
from tf_opdiff.reports.text.headline import headline

WHOLE = RunInfo(run="r", started="", state="complete")


def rows(**fields: Any) -> list[Record]:
    """Two dtypes of a spec under four plans, all of which match, with fields to be set where the mode is xla."""
    made = synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])
    made = [replace(row, against="numpy", quantity="output[0]") for row in made]
    made += [replace(row, dtype="float16", case="ceil-float16-edges") for row in made]
    return [replace(row, **fields) if row.mode == "xla" else row for row in made]


WRONG = {"verdict": "mismatch", "kind": "value", "example": "input -0.5, got -0.0, want -1.0", "example_index": "[3]"}


def test_a_run_in_which_nothing_fails_has_none() -> None:
    assert headline(frame(*rows()), WHOLE) == []
    assert headline(frame(*rows(verdict="known", kind="value", reason="since ever")), WHOLE) == []


def test_where_it_fails_is_said_of_where_it_ran() -> None:
    first, second = headline(frame(*rows(**WRONG)), WHOLE)
    assert first == "ceil gives wrong values on cpu/xla (1 of 4 plans), in all 2 dtypes."
    assert second == (
        "Example: input -0.5, got -0.0, want -1.0 (ceil-float32-edges, output[0] on cpu/xla, against numpy)."
    )
    everywhere = frame(*(replace(row, **WRONG) for row in rows()))
    assert headline(everywhere, WHOLE)[0] == "ceil gives wrong values everywhere: on all 4 plans, in all 2 dtypes."


def test_a_gradient_is_named_and_a_partial_run_and_other_findings_are_not_hidden() -> None:
    some = rows(**WRONG | {"quantity": "grad[0]"})
    some[0] = replace(some[0], verdict="mismatch", kind="nan")
    first, _ = headline(frame(*some), replace(WHOLE, state="interrupted"))
    assert first.startswith("Partial run: The gradient of ceil gives wrong values on cpu/xla")
    assert first.endswith(". 1 more finding below.")


@pytest.mark.parametrize("verdict", ["mismatch", "stale", "error"])
def test_every_failing_run_begins_its_reports_with_them(tmp_path: Path, verdict: str) -> None:
    some = rows(**WRONG | {"verdict": verdict})
    info = synthetic.write(tmp_path, some)
    records = reports.load(tmp_path)
    lines = headline(records, info)
    assert len(lines) == 2 and "ceil" in lines[0] and "input -0.5" in lines[1]
    assert summary.terminal(records, info)[:2] == lines
    said = markdown.summary(records, info).replace("\\", "").splitlines()
    assert said[:3] == [f"**{lines[0]}**", "", lines[1]]
