"""Tests of what the page shows of findings' programs and errors."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.repro import archive
from tf_opdiff.harness.repro.script_runs.outcome import Outcome
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.data.names.op_names import op_names
from tf_opdiff.reports.data.run_data import run_copy
from tf_opdiff.reports.data.run_data.load import load_repros
from tf_opdiff.reports.pages.page_data import _programs
from tf_opdiff.reports.pages.run_pages import run_overview
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.packed import whole
from tf_opdiff.reports.tests.pages.test_page import Page
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.program_address import program_address
from tf_opdiff.reports.text.sentences import sentence

PLACE = {"spec": "floor", "verdict": "mismatch", "kind": "signed_zero", "suite": "rounding", "against": "numpy"}
OUTCOME: dict[str, Any] = PLACE | {
    "case": "floor-float32-edges",
    "device": "cpu",
    "mode": "xla",
    "quantity": "output[0]",
    "status": "reproduced",
    "script": "repro/floor.py",
    "output": "the discrepancy is there\n[EXIT 1]",
    "points": [[-1e38, -0.0, 1e-30, 2.5, 1e38], [0.0, 3.5, -0.5, 1.0, -2000.0]],
    "marked": {"simplest": [-0.0, 3.5], "worst": [1e38, -2000.0]},
}


def written(directory: Path, rows: list[Record], outcomes: list[dict[str, Any]], text: str) -> Path:
    info = synthetic.write(directory, rows)
    (directory / "repro").mkdir()
    (directory / "repro" / "floor.py").write_text(text)
    (directory / "repro.json").write_text(json.dumps(outcomes))
    reports.write(directory, info)
    return directory


@pytest.fixture(scope="module")
def shown(rows: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = "import tensorflow as tf\nprint('</script>', tf)\n"
    return written(tmp_path_factory.mktemp("programs"), rows, [OUTCOME], text)


def test_a_program_that_showed_its_finding_is_linked() -> None:
    assert sentence.of_repro(OUTCOME) == ("A minimal program reproduces it; it was run", "repro/floor.py")


@pytest.mark.parametrize("length", [10_000, 10_001])
def test_of_a_long_program_the_page_names_the_file(length: int) -> None:
    (program,) = _programs([OUTCOME | {"text": "x" * length}])
    told = "It has 10,001 characters; it is the file repro/floor.py of the run" if length > 10_000 else "it was run"
    assert len(program["text"]) == (0 if length > 10_000 else length)
    assert program["said"].endswith(told)


#: Outcomes without a program that works, and the words about each.
WITHOUT = {
    "not reproduced": ("it printed 1.0, 2.0 for got and want, not 3.0",) * 2,
    "failed": ("", "[EXIT 1]"),
    "no script": ("_RUNS is a count", "_RUNS is a count"),
}


@pytest.mark.parametrize("status", WITHOUT)
def test_a_program_that_does_not_show_its_finding_is_not_shown(rows: list[Record], tmp_path: Path, status: str) -> None:
    why, says = WITHOUT[status]
    outcome = OUTCOME | {"status": status, "why": why}
    assert sentence.of_repro(outcome) == (f"No program of its own shows it: {says}", "")
    page = Page(written(tmp_path / "run", rows, [outcome], "print('a program that does not work')") / "index.html")
    assert "repro/floor.py" not in [a.get("href") for tag, a in page.elements if tag == "a"]
    assert "a program that does not work" not in (tmp_path / "run" / "index.html").read_text()


def test_a_cause_without_a_program_of_its_example_shows_that_of_another_finding() -> None:
    cause = SimpleNamespace(verdict="known", example={"spec": "floor", "kind": "value", "reason": "the reason"})
    known = OUTCOME | {"verdict": "known", "reason": "the reason"}
    own = known | {"kind": "value", "status": "failed", "script": "repro/own.py"}
    foreign = known | {"reason": "another", "script": "repro/foreign.py"}

    def program(*outcomes: dict[str, Any]) -> tuple[str, str]:
        by_finding = {tuple(o[name] for name in ("spec", "verdict", "kind", "reason")): o for o in outcomes}
        return run_overview._program(cast(Any, cause), by_finding)

    words, path = program(own, foreign, known)
    assert path == "repro/floor.py"
    assert words == f"A minimal program reproduces it; it was run. It is about {OUTCOME['case']} on cpu/xla"
    assert program(own, foreign) == ("No program of its own shows it: [EXIT 1]", "")


def test_a_program_that_was_not_run_again_says_when_it_was() -> None:
    earlier = OUTCOME | {"status": "reproduced earlier", "run": "r1", "date": "2026-11-20T01:02:03+00:00"}
    assert sentence.of_repro(earlier)[0] == "Reproduced in run r1 on 2026-11-20 01:02 UTC, not run again"


@pytest.mark.parametrize("path", ["../repro/x.py", "javascript:alert(1)", "repro/../x.py", 'repro/".py', "/etc/passwd"])
def test_a_path_that_is_none_of_the_runs_is_no_link(path: str) -> None:
    assert sentence.of_repro(OUTCOME | {"script": path})[1] == ""


def test_the_finding_links_to_its_program(shown: Path) -> None:
    links = [a.get("href") for tag, a in Page(shown / "index.html").elements if tag == "a"]
    assert links.count("repro/floor.py") == 1


def test_hostile_programs_make_no_element(rows: list[Record], tmp_path: Path) -> None:
    clean = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
    outcomes = [OUTCOME | {"script": text, "output": text, "status": "failed"} for text in clean]
    ordinary, hostile = (
        Page(written(tmp_path / name, rows, some, "") / "index.html")
        for name, some in (("a", [OUTCOME]), ("b", [*outcomes, OUTCOME | {"status": clean[0], "output": clean[1]}]))
    )
    assert {tag for tag, _ in hostile.elements} <= {tag for tag, _ in ordinary.elements}
    assert hostile.scripts[1:] == ordinary.scripts[1:]


@pytest.mark.browser
def test_a_program_in_the_archive_is_shown_at_its_record(
    rows: list[Record], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Browser
) -> None:
    """Both pages link to the record, whose details have the program; a copy of the run has it too."""
    monkeypatch.setattr(archive, "LEAST", 1)
    record = next(row for row in rows if row.verdict == "known")
    names = ("spec", "verdict", "kind", "suite", "against", "case", "device", "mode", "quantity", "reason")
    place = {name: getattr(record, name) for name in names}
    info, folder = synthetic.write(tmp_path, rows), tmp_path / "repro"
    folder.mkdir()
    (folder / "floor.py").write_text("import tensorflow as tf  # the program\n")
    (outcome,) = archive.pack([Outcome(**(OUTCOME | place))], folder)
    (tmp_path / "repro.json").write_text(json.dumps([vars(outcome)]))
    reports.write(tmp_path, info)
    assert [path.name for path in folder.iterdir()] == [archive.NAME]
    assert load_repros(tmp_path)[0]["text"] == "import tensorflow as tf  # the program\n"
    run_copy.copy(tmp_path, tmp_path / "copy")
    assert load_repros(tmp_path / "copy") == load_repros(tmp_path)
    address = program_address(vars(outcome), outcome.script)
    page = op_names(reports.load(tmp_path)).by_spec()[record.spec]
    assert f'href="../{address}"' in whole((tmp_path / page).read_text())
    for fragment, click in (("", f'a.filter[href="{address}"]'), (address.removeprefix("index.html"), "")):
        browser.open(tmp_path / "index.html", fragment)
        if click:
            browser.js(f"document.querySelector({click!r}).click()")
        browser.until("!!document.querySelector('#detail .program')")
        assert browser.js("document.querySelector('#detail .program').textContent").endswith("# the program\n")
        assert record.case in browser.js("document.querySelector('#detail h3').textContent")
    assert browser.said == []


@pytest.mark.browser
def test_a_record_shows_its_findings_program_and_errors(browser: Browser, shown: Path) -> None:
    browser.open(shown / "index.html", "#spec=floor&mode=xla&verdict=mismatch")
    browser.click(".tabulator-row")
    browser.until("!document.querySelector('#detail').hidden && !!document.querySelector('#detail .plots')")
    text = browser.js("document.querySelector('#detail').innerText")
    assert "A minimal program reproduces it; it was run." in text
    assert "5 elements, the worst 2,000 ULP off, 1 exact. Marked" in text
    assert "Marked: simplest: input -0, 3.5 ULP; worst: input 1e+38, -2,000 ULP." in text
    assert browser.js("document.querySelector('#detail .program').textContent").startswith("import tensorflow as tf")
    assert browser.js("document.querySelectorAll('#detail .plots canvas').length") == 2
    drawn = (
        "[...document.querySelectorAll('#detail .plots canvas')].map(c => new Set(new Uint32Array("
        "c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size)"
    )
    assert all(colours > 3 for colours in browser.js(drawn))
    assert browser.said == []
