"""Tests of what CI shows: JUnit XML, job summary, annotations, badge; and of a run for real that writes them all."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.record import VERDICTS, Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.ci import badge, github, junit
from tf_opdiff.reports.data.causes.discrepancies import discrepancies
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.names import spec_lines
from tf_opdiff.reports.data.run_data.frame import typed
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.data.test_table import frame
from tf_opdiff.reports.tests.planted import synthetic

#: What may stand where: attributes that have to be there, others, and elements within. Jenkins' schema, and what
#: GitLab and GitHub's actions read besides: `file` and `line`.
SCHEMA = {
    "testsuites": ("", "name", "testsuite"),
    "testsuite": ("name tests failures errors", "skipped time timestamp hostname", "properties testcase"),
    "properties": ("", "", "property"),
    "property": ("name value", "", ""),
    "testcase": ("name classname time", "file line", "properties failure error skipped"),
    "failure": ("message", "", ""),
    "error": ("message", "", ""),
    "skipped": ("message", "type", ""),
}
WRITTEN = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="tf-opdiff"
errors="0" failures="1" skipped="0" tests="3" time="4.3" timestamp="2031-01-01T00:00:00" hostname="h">
<testcase classname="suites.test_ops" name="test_op[floor-float32]" file="suites/test_ops.py" line="3" time="0.1">
<properties><property name="records" value="11" /></properties>
<failure message="Failed: mismatch: first&#10;second">mismatch: first
second</failure></testcase>
<testcase classname="suites.test_ops" name="test_op[gone-float32]" file="suites/test_ops.py" line="3" time="0.1"/>
<testcase time="0.000" />
<testcase classname="somewhere.test_else" name="test_op[floor" file="test_else.py" line="7" time="0.1"/>
</testsuite></testsuites>"""


def check(root: Element) -> None:
    """Fails where the XML is not of the schema, or its counts are wrong."""
    for element in root.iter():
        needed, more, within = map(str.split, SCHEMA[element.tag])
        assert set(needed) <= set(element.attrib) <= {*needed, *more}, element.attrib
        assert {child.tag for child in element} <= set(within)
    for suite in root.iter("testsuite"):
        tags = Counter(child.tag for case in suite.iter("testcase") for child in case)
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert (suite.get("failures"), suite.get("errors")) == (str(tags["failure"]), str(tags["error"]))


def info(**fields: Any) -> RunInfo:
    about = {"run": "r", "started": "", "state": "complete", "planned": 2, "recorded": 2, "exit_status": 0}
    return RunInfo(**about | fields)


ROWS = synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])


def ranked(*rows: Record) -> list[Discrepancy]:
    return discrepancies(typed(frame(*rows)), {})


LOST = {"case": "floor-float32-bits", "device": "cpu", "mode": "xla", "why": "cut off"}


# JUnit XML


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "junit.xml"
    path.write_text(WRITTEN)
    return path


def cases(path: Path) -> dict[str, Element]:
    root = ElementTree.parse(path).getroot()
    check(root)
    return {case.get("name", ""): case for case in root.iter("testcase")}


def test_an_item_is_named_by_its_family_and_stands_where_its_spec_does(written: Path) -> None:
    junit.finish(written, typed(frame(*ROWS)), info())
    found = cases(written)
    assert list(found) == ["floor-float32", "test_op[gone-float32]", "test_op[floor", "the run is whole"]
    place = {name: found["floor-float32"].get(name) for name in ("classname", "file", "line")}
    assert place["classname"] == "suites.rounding" and place["file"] == "suites/ops/math/elementary/rounding.py"
    line = (
        Path(spec_lines.ROOT, "suites/ops/math/elementary/rounding.py")
        .read_text()
        .splitlines()[int(str(place["line"])) - 1]
    )
    assert '"floor"' in line
    assert found["test_op[floor"].get("file") == "test_else.py"


def test_the_message_of_a_failure_is_its_first_line_and_its_text_is_whole(written: Path) -> None:
    junit.finish(written, typed(frame(*ROWS)), info())
    failure = cases(written)["floor-float32"].find("failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == ("mismatch: first", "mismatch: first\nsecond")


def test_finishing_twice_changes_nothing(written: Path) -> None:
    about = info(state="interrupted", not_run=[LOST], tf="2.21.0")
    junit.finish(written, typed(frame(*ROWS)), about)
    once = written.read_bytes()
    junit.finish(written, typed(frame(*ROWS)), about)
    assert written.read_bytes() == once


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "interrupted"},
        {"recorded": 1, "not_run": [LOST]},
        {"faults": ["entry 3 is about nothing"]},
        {"damaged": 1},
    ],
)
def test_a_run_that_is_not_whole_is_an_error_where_only_tests_are_shown(written: Path, fields: dict[str, Any]) -> None:
    junit.finish(written, typed(frame(*ROWS)), info(**fields))
    error = cases(written)["the run is whole"].find("error")
    assert error is not None and error.get("message", "").startswith("Partial run: ")
    assert (error.text or "").startswith("Partial run: ")  # GitLab shows the text, not the message
    lost = "floor-float32-bits on cpu/xla: cut off" in (error.text or "")
    assert lost == ("not_run" in fields)
    junit.finish(written, typed(frame(*ROWS)), info())
    assert cases(written)["the run is whole"].find("error") is None


def test_the_runs_facts_are_properties(written: Path) -> None:
    devices = {"cpu": {"asked": True}, "gpu:0": {"asked": False}}
    junit.finish(written, typed(frame(*ROWS)), info(tf="2.21.0", devices=devices))
    suite = ElementTree.parse(written).getroot()[0]
    facts = {p.get("name"): p.get("value") for p in suite.iterfind("properties/property")}
    assert (facts["opdiff.tensorflow"], facts["opdiff.devices"], facts["opdiff.not_asked"]) == (
        "2.21.0",
        "cpu",
        "gpu:0",
    )
    assert facts["opdiff.records.mismatch"] == str(sum(row.verdict == "mismatch" for row in ROWS))


def test_hostile_facts_leave_the_xml_well_formed(written: Path) -> None:
    text = "".join(HOSTILE) + "\ufffe\x01]]>"
    clean = text.encode("utf-8", "backslashreplace").decode()
    rows = [replace(row, suite=clean, host=clean) for row in ROWS]
    about = info(host=text, tf=text, run=text, faults=[text], devices={text: {"asked": True}})
    junit.finish(written, frame(*rows), about)
    assert cases(written)["floor-float32"].get("file") == spec_lines.GENERIC


def test_no_xml_is_no_fault_and_damaged_xml_is_an_error_that_names_the_file(written: Path) -> None:
    junit.finish(written.with_name("none.xml"), frame(*ROWS), info())
    assert not written.with_name("none.xml").exists()
    for text in ("<testsuites>", "<html></html>"):
        written.write_text(text)
        with pytest.raises(ValueError, match=r"junit\.xml is no"):
            junit.finish(written, frame(*ROWS), info())
        assert written.read_text() == text


# where a spec stands


def test_a_name_that_is_put_together_is_looked_for_without_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "sign.py").write_text(
        'x = 1\nname="sign",\nname=f"sign-{dtype}",\nname=f"{s}-position"\nname=f"{s}-position-xla"\n'
    )
    (tmp_path / "suites" / "claims").mkdir()
    (tmp_path / "suites" / "claims" / "b.py").write_text("\n\nname='claim-b'")
    assert spec_lines.place("sign", "sign", tmp_path) == ("suites/sign.py", 2)
    assert spec_lines.place("sign", "sign-float-zero", tmp_path) == ("suites/sign.py", 2)
    assert spec_lines.place("sign", "other", tmp_path) == ("suites/sign.py", 1)
    assert spec_lines.place("sign", "floor-position-xla", tmp_path) == ("suites/sign.py", 5)
    assert spec_lines.place("sign", "floor-position", tmp_path) == ("suites/sign.py", 4)
    assert spec_lines.place("claims", "claim-b", tmp_path) == ("suites/claims/b.py", 3)
    assert spec_lines.place("../../etc/passwd", "root", tmp_path) == (spec_lines.GENERIC, 1)


# GitHub


def parsed(line: str) -> tuple[dict[str, str], str]:
    """A workflow command as the runner reads it."""
    match = re.fullmatch(r"::error ([^:]*)::(.*)", line)
    assert match, line

    def plain(text: str) -> str:
        for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            text = text.replace(code, letter)
        return text

    return {k: plain(v) for k, _, v in (p.partition("=") for p in match[1].split(","))}, plain(match[2])


def test_annotations_are_ten_at_most_failing_ones_only_and_count_the_rest() -> None:
    rows = [
        replace(row, spec=f"op{i}", verdict="mismatch", kind="value", device=f"gpu:{i}")
        for i, row in enumerate(ROWS * 3)
    ]
    found = [parsed(line) for line in github.errors(info(state="interrupted"), ranked(*rows))]
    assert len(found) == 10
    assert found[0][0]["title"] == "tf-opdiff: partial run" and "interrupted" in found[0][1]
    assert found[-1][1] == f"{len(rows) - 8} more findings are in the report"
    some = [parsed(line) for line in github.errors(info(), ranked(*rows[:10]))]
    assert len(some) == 10 and all(about["file"] == "suites/ops/math/elementary/rounding.py" for about, _ in some)
    known = [replace(row, verdict="known") for row in ROWS]
    assert github.errors(info(), ranked(*known)) == []


def test_the_most_severe_failure_is_the_first_annotation() -> None:
    bad = replace(ROWS[0], verdict="mismatch", against="numpy", size=4, mismatched=1, budget=1.0)
    rows = [replace(bad, spec="near", kind="value", max_ulp=3.0, mode=mode) for mode in ("eager", "graph", "xla")]
    rows += [replace(bad, spec="far", kind="value", max_ulp=1e6), replace(bad, spec="dead", kind="crash")]
    titles = [parsed(line)[0]["title"] for line in github.errors(info(), ranked(*rows))]
    assert [title.split()[1] for title in titles] == ["dead", "far", "near"]


def test_what_fails_alike_on_the_same_plans_is_one_annotation() -> None:
    bad = replace(ROWS[0], verdict="mismatch", kind="shape")
    rows = [replace(bad, spec=f"op{i}") for i in range(5)] + [replace(bad, spec="op0", kind="nan")]
    found = [parsed(line)[0]["title"] for line in github.errors(info(), ranked(*rows))]
    assert found == [
        "mismatch: op0, op1, op2 and 2 more specs shape, 5 records on cpu/eager",
        "mismatch: op0 nan, 1 record on cpu/eager",
    ]


def test_an_annotation_says_what_came_and_how_to_rerun_it() -> None:
    row = replace(ROWS[0], verdict="mismatch", kind="value", got="1", want="2", input="1.5", against="numpy")
    ((about, message),) = [parsed(line) for line in github.errors(info(), ranked(row, row))]
    assert about["title"] == "mismatch: floor value, 2 records on cpu/eager"
    assert (about["file"], int(about["line"]) > 1) == ("suites/ops/math/elementary/rounding.py", True)
    lines = message.split("\n")
    assert lines[0].startswith("floor-float32-edges, output[0] on cpu/eager: differs from numpy")
    assert lines[-1].startswith("rerun: pytest suites --case floor-float32-edges")


def test_an_annotation_is_one_line_and_one_command_whatever_it_tells(hostile_run: Path) -> None:
    lines = github.errors(RunInfo.load(hostile_run), discrepancies(reports.load(hostile_run), {}))
    assert len(lines) > 2
    for line in lines:
        assert line.isprintable() and line.startswith("::error ") and "##[" not in line
    text = "100%, a:b\r\n::stop-commands::x ##[error]y"
    assert github.command("error", text, title=text) == (
        "::error title=100%25%2C a%3Ab%0D%0A%3A%3Astop-commands%3A%3Ax ## [error]y"
        "::100%25, a:b%0D%0A::stop-commands::x ## [error]y"
    )


def test_annotations_are_for_githubs_actions_only() -> None:
    failing = ranked(*[replace(row, verdict="mismatch") for row in ROWS])
    assert github.annotated(info(), failing, {"GITHUB_ACTIONS": "true"})
    assert not github.annotated(info(), failing, {}) and not github.annotated(info(), failing, {"GITHUB_ACTIONS": ""})


def test_a_job_summary_is_appended_and_kept_below_the_limit(tmp_path: Path) -> None:
    page, summary = tmp_path / "summary.md", tmp_path / "step"
    page.write_text("# ä run\n" + "| ✅ | 1 |\n" * 100_000)
    summary.write_text("before\n" * 1000)
    github.summarise(page, {"GITHUB_STEP_SUMMARY": str(summary)})
    found = summary.read_bytes()
    assert github.SUMMARY_LIMIT - 100 < len(found) <= github.SUMMARY_LIMIT
    text = found.decode()
    assert text.startswith("before\n" * 1000 + "\n# ä run\n") and text.endswith(github.CUT)
    assert set(text.removesuffix(github.CUT).splitlines()[1002:]) == {"| ✅ | 1 |"}
    github.summarise(page, {"GITHUB_STEP_SUMMARY": str(summary)})
    assert len(summary.read_bytes()) <= github.SUMMARY_LIMIT


def test_no_summary_is_written_where_none_is_asked_for(tmp_path: Path) -> None:
    github.summarise(tmp_path / "summary.md", {})
    github.summarise(tmp_path / "summary.md", {"GITHUB_STEP_SUMMARY": ""})
    assert list(tmp_path.iterdir()) == []


# badge


@pytest.mark.parametrize(
    ("fields", "counts", "says", "colour"),
    [
        ({}, {"match": 9, "known": 2489}, "0 failing, 2,489 known", "green"),
        ({}, {"match": 9}, "0 failing", "green"),
        ({"exit_status": 1}, {"match": 9, "mismatch": 2, "stale": 1, "known": 1}, "3 failing, 1 known", "red"),
        ({"exit_status": 1}, {"match": 9}, "0 failing, but status 1", "orange"),
        ({"state": "running", "exit_status": None}, {"match": 9}, "not ended: 0 failing", "orange"),
        ({"state": "interrupted", "exit_status": 2}, {"match": 9}, "partial: 0 failing", "orange"),
        ({"state": "interrupted", "exit_status": 2}, {"mismatch": 9}, "partial: 9 failing", "red"),
        ({"recorded": 1, "not_run": [LOST]}, {"match": 9}, "partial: 0 failing", "orange"),
        ({"damaged": 1}, {"match": 9}, "partial: 0 failing", "orange"),
        ({"state": "fault", "exit_status": 3}, {"match": 9}, "fault: 0 failing", "red"),
        ({"exit_status": 1}, {"match": 9, "error": 1}, "fault: 1 failing", "red"),
        ({}, {"unavailable": 9}, "nothing tested", "orange"),
        ({"state": "empty", "exit_status": 5}, {}, "nothing tested", "orange"),
    ],
)  # fmt: skip
def test_a_badge_is_green_for_a_whole_clean_run_only(
    tmp_path: Path, fields: dict[str, Any], counts: dict[str, int], says: str, colour: str
) -> None:
    badge.write(tmp_path, info(**fields), dict.fromkeys(VERDICTS, 0) | counts)
    told = json.loads((tmp_path / "badge.json").read_text())
    assert told == {"schemaVersion": 1, "label": "tf-opdiff", "message": says, "color": colour}
    picture = ElementTree.parse(tmp_path / "badge.svg").getroot()
    assert picture.get("role") == "img" and picture.get("aria-label") == f"tf-opdiff: {says}"
    assert picture.findtext("{*}title") == f"tf-opdiff: {says}"


@pytest.mark.parametrize("colour", badge.COLOURS.values())
def test_the_badges_letters_stand_out(colour: str) -> None:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    assert 1.05 / (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05) >= 4.5


@pytest.mark.browser
@pytest.mark.parametrize("says", ["0 failing", "3 failing, 2,489 known", "0 failing, but status 1", "nothing tested"])
def test_the_badge_is_as_wide_as_its_letters(browser: Browser, tmp_path: Path, says: str) -> None:
    path = tmp_path / "badge.svg"
    path.write_text(badge.svg(says, "green"))
    browser.call("Page.navigate", url=path.as_uri())
    browser.until("document.documentElement.tagName === 'svg' && document.readyState === 'complete'")
    drawn, natural = browser.js(
        "(texts => [texts.map(t => t.getComputedTextLength()), (texts.forEach(t => t.removeAttribute('textLength')),"
        " texts.map(t => t.getComputedTextLength()))])([...document.querySelectorAll('text')])"
    )
    assert all(0.85 < d / n < 1.2 for d, n in zip(drawn, natural, strict=True)), (drawn, natural)
    assert drawn == [badge.width("tf-opdiff"), badge.width(says)]
    assert browser.said == []


# for real


@pytest.fixture(scope="module")
def outcome(run_pytest: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run on planted specs, as GitHub's Actions would have it."""
    folder = tmp_path_factory.mktemp("places")
    (folder / "step").write_text("before\n")
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(folder / "step")}
    made = run_pytest(
        *("-n", "2", "--mode", "eager", "--junit-xml", str(folder / "own.xml")),
        suites="tf_opdiff.reports.tests.planted.planted_places",
        env=env,
    )
    assert made.status == 1, made.output
    made.folder = folder
    return made


def test_a_real_runs_xml_is_sound_also_where_the_user_wants_it(outcome: Any) -> None:
    path = outcome.folder / "own.xml"
    found = cases(path)
    assert set(found) == {"hostile-float32", "right-float32", "no-kernel-bfloat16", "the run is whole"}
    failure = found["hostile-float32"].find("failure")
    assert failure is not None and failure.get("message", "").startswith("mismatch: hostile-float32-plain on cpu/eager")
    assert "\n" not in failure.get("message", "") and "]]></failure><b>" in (failure.text or "")
    assert "  rerun: pytest suites --case hostile-float32-plain" in (failure.text or "")
    skipped = found["no-kernel-bfloat16"].find("skipped")
    assert skipped is not None and skipped.get("message", "").startswith("unavailable: no CPU kernel of Rint")
    assert found["right-float32"].findall("properties/property")[0].attrib == {"name": "records", "value": "2"}
    suite = ElementTree.parse(path).getroot()[0]
    assert suite.get("name") == "tf-opdiff"


def test_a_real_run_prints_one_annotation_and_no_command_of_somebody_else(outcome: Any) -> None:
    lines = [line for line in outcome.output.splitlines() if line.lstrip().startswith("::")]
    assert len(lines) == 1
    about, message = parsed(lines[0])
    assert about["title"] == "mismatch: hostile status, 1 record on cpu/eager" and "100%" in message


def test_a_real_run_appends_its_summary_and_leaves_a_badge(outcome: Any) -> None:
    step = outcome.folder / "step"
    assert step.read_text() == f"before\n\n{(outcome.directory / 'summary.md').read_text()}\n"
    assert json.loads((outcome.directory / "badge.json").read_text())["message"] == "1 failing"
    assert (outcome.directory / "badge.svg").exists()
