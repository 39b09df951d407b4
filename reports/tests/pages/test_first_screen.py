"""The first screen: what was tested, whether the run is sound, and what differs, the most severe first."""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.judge.differences.detail import NOT_SEEN, PROBABLE
from tf_opdiff.harness.judge.known_failures.cause import Cause
from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.write import write

RIGHT = [
    replace(row, verdict="match", kind="", got="", want="", against="numpy", quantity="output[0]", raw_op="Floor")
    for row in synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])[::2]
]
PLANTED = {
    "crashes": {"kind": "crash", "max_ulp": math.nan, "severity": "memory", "example": "input 1, got crash SIGABRT"},
    "wrong": {"kind": "value", "max_ulp": 1e6, "severity": "wrong_value", "example": "input 0.5, got 1.0, want 0.0"},
    "inexact": {"kind": "value", "max_ulp": 9.0, "severity": "accuracy", "example": "input 2, got 2.1, want 2"},
}


def cause(name: str, severity: str, **fields: str) -> Cause:
    about = {"title": f"The title of {name}", "severity_reason": f"Why {name} is so."}
    return Cause(id=name, owner="tensorflow", reason=f"the reason of {name}", severity=severity, **about | fields)


CAUSES = (cause("rounds", "accuracy"), cause("reads-memory", "memory"), cause("far", "wrong_value"))


def failing(spec: str, times: int = 1) -> list[Record]:
    row = replace(RIGHT[0], spec=spec, case=f"{spec}-float32", verdict="mismatch", size=67, mismatched=3, budget=1.0)
    return [replace(row, case=f"{row.case}-{n}", **PLANTED[spec]) for n in range(times)]


def known(of: Cause, times: int = 1) -> list[Record]:
    row = replace(RIGHT[0], verdict="known", kind="value", cause=of.id, reason=of.reason, owner=of.owner, max_ulp=3.0)
    return [replace(row, case=f"{of.id}-{n}") for n in range(times)]


def page(directory: Path, rows: list[Record], causes: tuple[Cause, ...] | None = CAUSES, **info: object) -> str:
    """The page of a run with these records; without causes, that of an older run."""
    about = synthetic.write(directory, rows, **{"devices": {"cpu": {"asked": True}}, **info})
    if causes is not None:
        (directory / "causes.json").write_text(json.dumps([msgspec.to_builtins(one) for one in causes]))
    write(directory, about)
    return (directory / "index.html").read_text()


def plain(text: str) -> str:
    """The words of some HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split()).replace(" .", ".").replace(" ,", ",")


def titles(text: str) -> list[str]:
    """The titles of the discrepancies, in the order of the page."""
    return [plain(title) for title in re.findall(r'<p class="title">(.*?)</p>', text)]


@pytest.mark.parametrize("most", list(PLANTED))
def test_planted_faults_stand_in_the_order_of_their_severity_before_all_that_is_known(
    tmp_path: Path, most: str
) -> None:
    rows = [row for spec in PLANTED for row in failing(spec, 40 if spec == most else 1)]
    rows += [row for one in CAUSES for row in known(one, 25 if one.severity == "accuracy" else 1)]
    text = page(tmp_path, rows)
    assert titles(text) == [
        *("crashes crashes.", "wrong gives wrong values.", "inexact gives wrong values."),
        *("The title of reads-memory.", "The title of far.", "The title of rounds."),
    ]
    assert plain(re.findall("<h1.*?</h1>", text)[0]).startswith("crashes crashes everywhere")
    assert text.index("nobody has explained it: 3") < text.index("Known discrepancies: 3")
    for severity in ("memory", "wrong_value", "accuracy"):
        assert SEVERITIES[severity].title in text
    assert "Why rounds is so." in text and "input 0.5, got 1.0, want 0.0" in text


def test_ten_are_shown_and_another_page_has_all(tmp_path: Path) -> None:
    causes = tuple(cause(f"cause-{n:02}", "accuracy") for n in range(25))
    text = page(tmp_path, [*failing("wrong"), *(row for one in causes for row in known(one))], causes)
    everything = ["wrong gives wrong values.", *(f"The title of cause-{n:02}." for n in range(25))]
    assert titles(text) == everything[:11]
    assert "The 10 known discrepancies that matter most, of 25" in text
    assert '<a href="discrepancies.html">All 26 discrepancies' in text
    assert titles((tmp_path / "discrepancies.html").read_text()) == everything


def test_a_run_without_causes_states_reasons_and_the_rule(tmp_path: Path) -> None:
    text = page(tmp_path, known(CAUSES[0]), causes=None)
    assert titles(text) == ["ceil: the reason of rounds."]
    assert SEVERITIES["accuracy"].rule in html.unescape(text)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_of_causes_are_shown_as_they_are(tmp_path: Path, hostile: str) -> None:
    one = cause("rounds", "memory", title=hostile, severity_reason=hostile, link=f"https://example.org/{hostile}")
    text = page(tmp_path, [replace(row, link=one.link) for row in known(one)], (one,))
    found = _Elements(text)
    assert not found.tags & {"img", "svg", "iframe"} and not {name for name in found.names if name.startswith("on")}
    assert found.scripts == 3


class _Elements(HTMLParser):
    """The tags and the names of attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.scripts += tag == "script"


def overview(text: str) -> str:
    return plain(text.partition('<dl class="overview">')[2].partition("</dl>")[0])


def test_a_sound_run_says_what_it_tested_and_what_not(tmp_path: Path) -> None:
    text = page(tmp_path, [*RIGHT, *known(CAUSES[0])], deselected=["a", "b"], modes=["eager", "function", "xla"])
    words = overview(text)
    assert "1 op of TensorFlow, by 1 spec with 2 cases, with TensorFlow 2.21.0 on the CPU, in 3 modes" in words
    assert (
        "No GPU, because this machine has none that TensorFlow lists; the mode graph; 2 items that this selection"
        in words
    )
    assert "The run is sound: all 5 planned cells have a result" in words
    assert "Unknown: there is no earlier run of the same selection" in words
    assert plain(re.findall("<h1.*?</h1>", text)[0]) == "TensorFlow 2.21.0 on the CPU: 1 known discrepancy."
    assert "Nothing fails" not in text


def test_a_run_says_how_many_planted_faults_known_failures_would_hide(tmp_path: Path) -> None:
    seen, blind = known(CAUSES[0], 2)
    rows = [*RIGHT, replace(seen, planted=4), replace(blind, planted=4, unseen="one element × 3;one element is 0")]
    words = overview(page(tmp_path / "a", rows))
    assert "planted 8 faults in results that are known to fail: 2 of them (25.0 %) would not be noticed" in words
    words = overview(page(tmp_path / "b", [*RIGHT, replace(seen, planted=4)]))
    assert "planted 4 faults in results that are known to fail: all of them would be noticed" in words
    assert "planted" not in overview(page(tmp_path / "c", RIGHT))


def test_a_run_on_another_processor_says_how_known_failures_held_there(tmp_path: Path) -> None:
    (one,) = known(CAUSES[0])
    rows = [replace(RIGHT[0], detail=f"{NOT_SEEN}: rounds."), *RIGHT[1:], replace(one, detail=f"{PROBABLE} far off")]
    words = overview(page(tmp_path / "a", rows))
    assert "with the traits of cpu. " in words
    assert "match here: 1." in words and "which is probably theirs: 1." in words
    assert "Nobody has measured" not in overview(page(tmp_path / "b", RIGHT))


@pytest.mark.parametrize(
    ("rows", "info", "says"),
    [
        ([replace(RIGHT[0], verdict="stale")], {}, "1 record no longer fail"),
        ([replace(RIGHT[0], verdict="error", kind="reference")], {}, "the suite itself is at fault in 1 record"),
        ([], {"damaged": 2}, "2 damaged lines"),
        ([], {"planned": 9}, "5 of 9 planned cells are unaccounted for"),
    ],
)
def test_a_run_that_is_not_sound_says_why(
    tmp_path: Path, rows: list[Record], info: dict[str, object], says: str
) -> None:
    words = overview(page(tmp_path, [*RIGHT[1:], RIGHT[0], *[replace(row, case="other") for row in rows]], **info))
    assert "The run is not sound: " in words and says in words and "The run is sound" not in words


def test_what_is_new_since_the_previous_run_is_marked(tmp_path: Path) -> None:
    page(tmp_path / "first", [*RIGHT, *known(CAUSES[0])])
    second = tmp_path / "second"
    rows = [*RIGHT, *known(CAUSES[0]), *known(CAUSES[1])]
    info = synthetic.write(second, rows, devices={"cpu": {"asked": True}}, started="2032-01-01T00:00:00+00:00")
    write(second, info, before=tmp_path / "first")
    text = (second / "index.html").read_text()
    assert text.count('<span class="tag new">') == 1
    assert "2 known discrepancies, 1 new." in text and "1 of the 2 discrepancies is new since" in overview(text)


def test_a_discrepancy_links_its_records_and_no_others(browser: Browser, tmp_path: Path) -> None:
    longer = cause("far-away", "accuracy")
    page(tmp_path, [*known(CAUSES[2], 2), *known(longer, 3)], (*CAUSES, longer))
    browser.open(tmp_path / "index.html")
    browser.click("#top .discrepancy .filter")
    browser.until("document.querySelector('#count').textContent.startsWith('2 of')")
    assert browser.js("document.querySelector('#count').textContent") == "2 of 5 records"


def test_a_tooltip_opens_for_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    page(tmp_path, known(CAUSES[0]))
    browser.open(tmp_path / "index.html")
    browser.js("document.querySelector('.overview .term').focus()")
    style = "getComputedStyle(document.querySelector('.overview .term'), '::after').content"
    assert len(browser.js(style)) > 30


def test_the_page_is_complete_without_scripts(tmp_path: Path) -> None:
    text = page(tmp_path, known(CAUSES[0]))
    assert titles(text) == ["The title of rounds."]
    assert reports.load(tmp_path)["cause"].astype(str).tolist() == ["rounds"] and RunInfo.load(tmp_path).run


def test_the_page_says_which_programs_meet_a_discrepancy_and_what_fixes_it(tmp_path: Path) -> None:
    fix = "https://github.com/tensorflow/tensorflow/pull/1"
    public = cause("public", "wrong_value", function="tf.maximum", fixed=fix)
    lost = cause("lost", "special_value", function="tf.minimum")
    raw, invalid = cause("raw", "wrong_value"), cause("invalid", "memory", function="tf.abs", arguments="invalid")
    no_nan = [replace(row, kind="nan", got="1.0", want="nan") for row in known(lost)]
    rows = [*known(invalid), *known(raw), *no_nan, *known(public)]
    text = html.unescape(page(tmp_path, rows, (public, lost, raw, invalid)))
    items = dict(re.findall(r"The title of (\w+)\.(.*?)</li>", text, re.DOTALL))
    assert list(items) == ["lost", "public", "raw", "invalid"]
    assert [name for name in items if "raw op only" in items[name]] == ["raw"]
    assert [name for name in items if "arguments that the documentation does not allow" in items[name]] == ["invalid"]
    assert [name for name in items if ">lost NaN<" in items[name]] == ["lost"]
    first = items["public"].index(f'<b>Fixed upstream by</b> <a href="{fix}"')
    assert first < items["public"].index("<details>") and items["raw"].count("Fixed upstream") == 0
    summary = (tmp_path / "summary.md").read_text()
    assert summary.index("Fixed upstream by") < summary.index("the reason of public")
    assert "Only for arguments that the documentation does not allow." in summary and "A raw op only" in summary
