"""Tests of summary and markdown."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.store.records.record import COLUMNS, Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.causes.discrepancies import discrepancies, of_run
from tf_opdiff.reports.data.run_data.frame import records as frame_of
from tf_opdiff.reports.data.run_data.frame import typed
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.data.test_table import frame
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.sentences import markdown, sentence, summary


def terminal(run: Path) -> list[str]:
    """The summary of the run in a directory."""
    records = reports.load(run)
    return summary.terminal(records, RunInfo.load(run), of_run(run, records), run)


@pytest.mark.parametrize(("specs", "devices"), [(5, 1), (15, 2), (15, 5), (61, 2), (400, 3)])
def test_the_terminal_gets_forty_plain_lines_at_most(tmp_path: Path, specs: int, devices: int) -> None:
    names = ["cpu", "gpu:0", "gpu:1", "tpu:0", "cpu+noonednn"][:devices]
    rows = [replace(r, verdict="mismatch") for r in synthetic.records(synthetic.ops(specs), names, ["edges"])]
    synthetic.write(tmp_path, rows)
    lines = terminal(tmp_path)
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 220
    heads = next(line for line in lines if line.startswith(("spec ", "suite ")))
    assert len(heads) <= 120 and all(f"  {name}" in heads for name in names)
    assert lines[-1] == f"report: {tmp_path / 'index.html'}"


def test_few_specs_are_listed_and_many_are_gathered_by_suite(run: Path, tmp_path: Path) -> None:
    text = "\n".join(terminal(run))
    assert re.search(r"^rounding +64\. +64\. +8X 56\.", text, re.MULTILINE) and not re.search(
        r"^floor ", text, re.MULTILINE
    )
    rows = synthetic.records([("rounding", "floor"), ("rounding", "ceil")], ["cpu"], ["edges"])
    synthetic.write(tmp_path, rows)
    text = "\n".join(terminal(tmp_path))
    assert re.search(r"^floor +2\. +2\. +2X +2\.", text, re.MULTILINE)


def test_new_failures_come_before_known_ones_with_their_rerun_command(run: Path) -> None:
    lines = terminal(run)
    titles = [line.partition(":")[0] for line in lines if line.startswith(("fail:", "known:"))]
    assert titles == sorted(titles) and set(titles) == {"fail", "known"}
    starts = [number for number, line in enumerate(lines) if line.startswith("fail: ") and "more finding" not in line]
    assert len(starts) == 3
    for start in starts:
        assert lines[start + 2].startswith("    rerun: pytest suites --case")
        assert lines[start + 3].startswith(f"    record: {run}/index.html#record=")
    severities = [line.split(": ")[1] for line in lines if line.startswith("fail: ") and line.count(": ") > 1]
    assert severities[0] == SEVERITIES["memory"].title
    assert severities == sorted(severities, key=[s.title for s in SEVERITIES.values()].index)


def test_markdown_tells_a_finding_once_and_leaves_out_what_it_has_not() -> None:
    row = synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])[0]
    row = replace(row, verdict="known", kind="status", got="error ABORTED", want="value", input="", worst_index="")
    told = replace(row, detail="it aborts", reason="it aborts")
    text = markdown.summary(typed(frame(told)), RunInfo(run="r", started=""), discrepancies(frame(told), {}))
    assert "` got error ABORTED, want value `\n" in text and text.count("it aborts") == 1


def test_a_known_failure_reads_as_a_sentence() -> None:
    row = synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])[0]
    row = replace(row, verdict="known", kind="value", size=67, mismatched=3, against="numpy")
    said = sentence.without_case(asdict(row))
    assert said.startswith("output[0] on cpu/eager: differs, as known, from numpy in 3 of 67 elements (value).")


def test_devices_not_asked_for_are_named(run: Path) -> None:
    assert "devices: cpu, gpu:0; not requested: gpu:1" in terminal(run)


def test_a_partial_run_says_so_in_the_first_line_of_both(tmp_path: Path) -> None:
    rows = synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])
    lost = [{"case": "ceil-float32-bits", "device": "cpu", "mode": "xla", "why": "cut off"}]
    info = synthetic.write(tmp_path, rows, planned=5, not_run=lost, state="interrupted")
    lines = terminal(tmp_path)
    assert lines[0] == "Partial run. TensorFlow 2.21.0 on the CPU and gpu:0: no discrepancy."
    assert lines[1].startswith("Partial run: it was interrupted; 1 of 5 planned cells")
    text = markdown.summary(reports.load(tmp_path), info, [])
    assert text.startswith("**Partial run. ")
    assert "| cut off | cpu/xla | 1 |" in text and "The run is not sound: it was interrupted" in text.replace("\\", "")


def test_a_run_without_records_is_reported_as_such(tmp_path: Path) -> None:
    info = synthetic.write(tmp_path, [], state="interrupted", planned=7)
    reports.write(tmp_path, info)
    found = reports.load(tmp_path)
    assert tuple(found.columns) == COLUMNS and len(reports.load_observations(tmp_path)) == 0
    assert "There are no records" in terminal(tmp_path)[0]
    assert "There are no records" in (tmp_path / "summary.md").read_text()
    assert "This run is partial" in (tmp_path / "index.html").read_text()


def test_no_control_character_reaches_the_terminal(hostile_run: Path) -> None:
    lines = terminal(hostile_run)
    assert all(line.isprintable() or line == "" for line in lines)


def test_hostile_texts_are_inert_in_markdown(hostile_run: Path) -> None:
    text = (hostile_run / "summary.md").read_text()
    outside = re.sub(r"(`+) .*? \1", "", text)
    assert not re.search(r"<(?!https://)", outside)
    assert "javascript:" not in re.findall(r"<(https?://[^>]*|javascript:[^>]*)>", text)
    for line in text.splitlines():
        assert line.startswith("|") == line.endswith("|")


@pytest.mark.parametrize("text", [*HOSTILE, "a|b", "`x``y", "[x](https://y)", "@someone", "*b* _i_"])
def test_escaped_markdown_keeps_on_one_line_without_markup(text: str) -> None:
    for made in (markdown.escape(text), markdown.code(text)):
        assert "\n" not in made and made.isprintable()
    assert not re.search(r"(?<!\\)[`*_\[\]|]|[<>@]", markdown.escape(text))


def test_durations_read_as_people_say_them() -> None:
    def took(ended: str) -> str:
        return summary.duration(RunInfo(run="r", started="2031-01-01T00:00:00+00:00", ended=ended))

    assert took("2031-01-01T01:02:03+00:00") == "1 h 2 min 3 s"
    assert took("2031-01-01T00:00:00+00:00") == "0 s"
    assert took("") == ""


def test_frame_sorts_the_same_whatever_worker_wrote_first(tmp_path: Path, rows: list[Record]) -> None:
    some = rows[:40]
    synthetic.write(tmp_path / "a", some, shards=1)
    synthetic.write(tmp_path / "b", some[::-1], shards=3)
    assert frame_of(tmp_path / "a").equals(frame_of(tmp_path / "b"))
