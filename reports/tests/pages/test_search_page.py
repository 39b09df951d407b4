"""The search: from every page to every op, function and discrepancy of a run, offline, whole words first."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tf_opdiff.reports.analysis.search_index import entries
from tf_opdiff.reports.data.causes.discrepancies import of_run
from tf_opdiff.reports.data.names.op_names import op_names
from tf_opdiff.reports.data.run_data.load import load
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.pages.test_first_screen import RIGHT, cause, known, page
from tf_opdiff.reports.tests.planted import synthetic

FLOOR = cause("floors", "wrong_value", title="`tf.math.floor` loses the sign of a zero", function="tf.math.floor")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    specs = {"floor": "Floor", "floor-div": "FloorDiv;Floor", "x-floored": "AddFloored", "mat-mul": "MatMul"}
    rows = [replace(RIGHT[0], spec=spec, case=f"{spec}-float32", raw_op=op) for spec, op in specs.items()]
    page(tmp_path, [*rows, *(replace(row, spec="floor") for row in known(FLOOR))], (FLOOR,))
    return tmp_path / "search.html"


def results(browser: Browser) -> list[str]:
    """The kind and the name of each result."""
    text = "`${li.firstChild.textContent} ${li.querySelector('a').textContent}`"
    found: list[str] = browser.js(f"[...document.querySelectorAll('#results li')].map((li) => {text})")
    return found


def search(browser: Browser, text: str) -> list[str]:
    """The results of a search that is typed into the box."""
    browser.js("document.querySelector('.menu input').select()")
    browser.type(text)
    return results(browser)


@pytest.mark.browser
def test_whole_names_come_first_then_whole_words_then_parts(browser: Browser, file: Path) -> None:
    browser.open(file, "?q=floor")
    found = results(browser)
    assert found[:2] == ["op Floor", "spec floor"]
    assert found.index("op FloorDiv") < found.index("op AddFloored")
    assert found.index("discrepancy tf.math.floor loses the sign of a zero") < found.index("op AddFloored")
    assert search(browser, "matmul")[0] == "op MatMul" == search(browser, "mat mul")[0]
    assert search(browser, "tf.math.floor")[:2] == ["function tf.math.floor", "op Floor"]
    assert search(browser, "sign zero") == ["discrepancy tf.math.floor loses the sign of a zero"]
    assert search(browser, "sign/zero trick") == search(browser, "sign zero")
    search(browser, "sign/zero trick")
    assert "none has all words" in browser.js("document.querySelector('#found').textContent")
    assert search(browser, "nothing-like-it") == []
    assert "0 results" in browser.js("document.querySelector('#found').textContent")


@pytest.mark.browser
@pytest.mark.parametrize("start", ["index.html", "discrepancies.html", "ops/index.html", "ops/Floor.html"])
def test_the_box_of_every_page_leads_to_an_op(browser: Browser, file: Path, start: str) -> None:
    browser.call("Page.navigate", url=(file.parent / start).resolve().as_uri())
    browser.until("document.querySelector('.menu input') !== null")
    browser.js("document.querySelector('.menu input').focus()")
    browser.type("Floor")
    browser.key("Enter", 13)
    browser.until("location.pathname.endsWith('/search.html') && document.documentElement?.dataset.ready")
    browser.js("document.querySelector('#results a').click()")
    browser.until("location.pathname.endsWith('/ops/Floor.html')")
    assert browser.said == []


@pytest.mark.browser
def test_a_discrepancy_that_was_found_is_opened_on_its_page(browser: Browser, file: Path) -> None:
    browser.open(file, "?q=floors")
    browser.js("document.querySelector('#results a').click()")
    browser.until(
        "location.pathname.endsWith('/discrepancies.html') && document.querySelector('#is-floors details')?.open"
    )


def test_every_link_leads_to_a_file_and_every_page_has_the_menu(run: Path) -> None:
    records = load(run)
    index = entries(op_names(records), of_run(run, records), [])
    for entry in index:
        path, _, fragment = entry.link.partition("#")
        text = (run / path).read_text()
        assert not fragment.startswith("is-") or f'id="{fragment.replace("%25", "%")}"' in text
    assert {entry.kind for entry in index} >= {"op", "spec", "discrepancy"}
    for path in run.rglob("*.html"):
        assert re.search(r'<form action="(\.\./)?search.html" role="search" ', path.read_text()), path


def test_the_counts_of_the_search_the_list_and_the_pages_of_ops_agree(run: Path) -> None:
    records = load(run)
    ranked = of_run(run, records)
    about = {entry.name: entry.about for entry in entries(op_names(records), ranked, []) if entry.kind == "op"}
    listing = (run / "ops" / "index.html").read_text()
    for name, words in about.items():
        row = listing.partition(f">{name}</a></th>")[2].partition("</tr>")[0]
        own, others = re.findall(r"<td>([\d,]+|–)</td>", row)[:2]
        parts = [own != "–" and f"{own} {'discrepancy' if own == '1' else 'discrepancies'}"]
        parts += [others != "–" and f"{others} in programs with it"]
        assert words == ", ".join(filter(None, parts)), name
    total = re.search(r">All</a></th><td>([\d,]+)</td>", listing)
    assert total and int(total[1]) == len(ranked) == (run / "discrepancies.html").read_text().count('class="rank"')


def test_a_name_with_hostile_letters_is_text_in_the_index(tmp_path: Path) -> None:
    row = synthetic.records([("s", "</script><b>")], ["cpu"], ["edges"])[0]
    page(tmp_path, [row])
    assert "<b>" not in (tmp_path / "search.html").read_text()
