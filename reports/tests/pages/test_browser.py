"""Tests of the page in a real browser."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.planted import synthetic

pytestmark = pytest.mark.browser
ENTER, ESCAPE, DOWN = ("Enter", 13), ("Escape", 27), ("ArrowDown", 40)


def count(browser: Browser) -> str:
    return browser.js("document.querySelector('#count').textContent")


def fragment(browser: Browser) -> dict[str, list[str]]:
    return parse_qs(browser.js("location.hash.slice(1)"))


def detail(browser: Browser) -> str:
    return browser.js("document.querySelector('#detail').hidden ? '' : document.querySelector('#detail').innerText")


def test_the_page_opens_from_a_file_asks_for_nothing_and_says_nothing(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html")
    assert count(browser) == "3,904 of 3,904 records"
    assert browser.js("document.querySelectorAll('.tabulator-row').length") > 5
    assert {url for url in browser.asked if not url.startswith(("about:", "data:"))} == {(run / "index.html").as_uri()}
    assert browser.said == []


def test_only_the_rows_in_view_are_drawn(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html")
    assert browser.js("document.querySelectorAll('.tabulator-row').length") < 120


def test_a_link_restores_filters_and_record(browser: Browser, run: Path) -> None:
    record = "floor-float32-edges%7Ccpu%7Cxla%7Cgrad%5B0%5D%7C"
    row = reports.load(run).query("case == 'floor-float32-edges' and device == 'cpu' and mode == 'xla'").iloc[0]
    browser.open(
        run / "index.html", f"#verdict=mismatch&spec=floor&mode=xla&record={record}{row['against'].replace('/', '%2F')}"
    )
    assert count(browser) == "16 of 3,904 records"
    text = detail(browser)
    for said in ("floor-float32-edges", "-0.0", row["rerun"], "Ran on", "gpu:0/graph"):
        assert said in text
    assert browser.js("document.querySelector('.chip input[value=mismatch]').checked")
    assert browser.js("document.querySelector('select[name=spec]').value") == "=floor"


def test_a_link_to_a_record_of_another_run_says_so(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#record=nothing")
    assert "The linked record is not in this run" in count(browser)


def test_a_cell_of_the_matrix_filters_and_back_undoes_it(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html")
    browser.js("document.querySelector('a.cell[href*=\"spec=gather_oob&device=gpu\"]').click()")
    browser.until("document.querySelector('#count').textContent.startsWith('8 of')")
    assert fragment(browser)["spec"] == ["gather_oob"]
    browser.js("history.back()")
    browser.until("document.querySelector('#count').textContent.startsWith('3,904 of')")


def test_each_filter_narrows_and_lands_in_the_address(browser: Browser, run: Path) -> None:
    found = reports.load(run)
    for name, value in {
        "suite": "gather",
        "device": "gpu:0",
        "mode": "xla",
        "kind": "signed_zero",
        "spec": "ceil",
    }.items():
        browser.open(run / "index.html")
        select = f"document.querySelector('select[name={name}]')"
        browser.js(f"{select}.value = '={value}'; {select}.dispatchEvent(new Event('change', {{bubbles: true}}))")
        assert count(browser) == f"{(found[name] == value).sum():,} of 3,904 records"
        assert fragment(browser) == {name: [value]}


def test_search_takes_all_words_in_any_column(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html")
    browser.key("/", 191)
    browser.type("SIGABRT gpu:0")
    browser.until("document.querySelector('#count').textContent.startsWith('8 of')")
    assert fragment(browser)["q"] == ["SIGABRT gpu:0"]
    browser.js("document.querySelector('#clear').click()")
    assert count(browser) == "3,904 of 3,904 records" and fragment(browser) == {}


def test_the_keyboard_opens_moves_and_closes(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#verdict=mismatch")
    browser.js("document.querySelector('.tabulator-tableholder').focus()")
    browser.key(*DOWN)
    first = detail(browser)
    browser.key(*DOWN)
    assert first and detail(browser) and first != detail(browser)
    assert browser.js("document.querySelectorAll('.tabulator-row.chosen').length") == 1
    browser.key(*ESCAPE)
    assert detail(browser) == "" and "record" not in fragment(browser)


def test_a_header_sorts_by_keyboard_with_unmeasured_distances_last(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#kind=value")
    column = "document.querySelector('.tabulator-col[tabulator-field=max_ulp]')"
    browser.js(f"{column}.focus()")
    for wanted in ("6.5", "inf"):
        browser.key(*ENTER)
        shown = "document.querySelector('.tabulator-row .tabulator-cell[tabulator-field=max_ulp]').textContent"
        browser.until(f"{shown} === '{wanted}'")


def test_every_plan_of_the_same_case_and_quantity_stands_side_by_side(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#verdict=stale")
    browser.js("document.querySelector('.tabulator-row').click()")
    found = browser.js(
        "[...document.querySelectorAll('#detail tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    assert sorted(line[0] for line in found) == sorted(f"{d}/{m}" for d in ("cpu", "gpu:0") for m in MODES)
    assert [line[1] for line in found] == sorted((line[1] for line in found), key=lambda name: name != "numpy")
    browser.js("[...document.querySelectorAll('#detail button.plan')].find(b => b.textContent === 'cpu/eager').click()")
    assert "on cpu/eager:" in browser.js("document.querySelector('#detail .sentence').textContent")


def rows_of_plans(browser: Browser) -> list[list[str]]:
    return browser.js(
        "[...document.querySelectorAll('#detail tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )


def test_a_plan_that_matches_shows_its_value_and_the_few_that_differ_are_marked(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#verdict=mismatch&spec=floor&q=numpy")
    browser.js("document.querySelector('.tabulator-row').click()")
    found = [row for row in rows_of_plans(browser) if row[1] == "numpy"]
    off = [row for row in found if "mismatch" in row[2]]
    assert off and all(row[0].endswith("outlier") for row in off)
    fine = [row for row in found if "match" in row[2] and row not in off]
    assert fine and not any("outlier" in row[0] for row in fine)
    assert {row[4] for row in fine} == {"0.0"}  # what `observed` gave
    said = browser.js("document.querySelector('#detail .plans').textContent")
    assert said.startswith(off[0][0].removesuffix("outlier")) and "from numpy" in said


def test_a_documented_divergence_is_no_outlier_and_wants_nothing_of_the_others(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#spec=gather_nd&verdict=contract")
    browser.js("document.querySelector('.tabulator-row').click()")
    assert not any("outlier" in row[0] for row in rows_of_plans(browser))
    assert browser.js("document.querySelector('#detail .plans')") is None


def test_a_number_too_long_for_its_column_is_never_cut_in_front(browser: Browser, tmp_path: Path) -> None:
    row = synthetic.records([("gather", "gather_oob")], ["gpu:0"], ["edges"])[0]
    row = replace(row, max_ulp=8.78e15, size=63490, mismatched=60707, budget=15710.7, seconds=0.000123456)
    reports.write(tmp_path, synthetic.write(tmp_path, [row]))
    browser.open(tmp_path / "index.html")
    cells = "[...document.querySelectorAll('.tabulator-row .tabulator-cell')]"
    edges = f"{cells}.map(c => [c.getBoundingClientRect(), c.firstElementChild.getBoundingClientRect()])"
    assert browser.js(f"{edges}.every(([cell, text]) => text.left >= cell.left - 1)")
    shown = dict(browser.js(f"{cells}.map(c => [c.getAttribute('tabulator-field'), c.textContent])"))
    assert (shown["max_ulp"], shown["budget"]) == ("8.78e+15", "15,711")  # as sentence.number writes them
    assert shown["seconds"] == "0.000123"


@pytest.mark.parametrize(
    ("kind", "example", "got", "want"),
    [
        ("value", "input -0.5, got -0.0, want -1.0", "-0.0", "-1.0"),
        ("position", "input -0.5, got 3 in a smaller tensor, want 4 as in the whole one", "3", "4"),
    ],
)
def test_table_and_record_show_the_simplest_input_and_then_the_worst(
    browser: Browser, tmp_path: Path, kind: str, example: str, got: str, want: str
) -> None:
    row = synthetic.records([("gather", "gather_oob")], ["gpu:0"], ["edges"])[0]
    row = replace(row, kind=kind, worst_index="[3]", input="7.25", got="8.0", want="9.0", distance="2 ULP, 1 allowed")
    row = replace(row, example_index="[4]", example=example, against="numpy")
    reports.write(tmp_path, synthetic.write(tmp_path, [row]))
    browser.open(tmp_path / "index.html")
    cells = "[...document.querySelectorAll('.tabulator-row .tabulator-cell')]"
    shown = dict(browser.js(f"{cells}.map(c => [c.getAttribute('tabulator-field'), c.textContent])"))
    assert (shown["got"], shown["want"]) == (got, want)
    browser.js("document.querySelector('.tabulator-row').click()")
    boxes = browser.js("[...document.querySelectorAll('#detail .value pre')].map(e => e.textContent)")
    assert boxes == ["-0.5", got, want]
    assert "Worst at [3]: input 7.25, got 8.0, want 9.0 (2 ULP, 1 allowed)." in detail(browser)


def test_a_program_about_another_record_of_its_finding_says_so(browser: Browser, tmp_path: Path) -> None:
    rows = synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])
    info = synthetic.write(tmp_path, rows)
    one = next(r for r in rows if r.verdict == "mismatch" and r.quantity == "output[0]")
    names = ("suite", "spec", "verdict", "kind", "case", "device", "mode", "against", "quantity")
    about = {name: getattr(one, name) for name in names}
    told = {"status": "reproduced", "script": "repro/floor.py", "output": "", "points": []}
    (tmp_path / "repro.json").write_text(json.dumps([about | told]))
    reports.write(tmp_path, info)
    for quantity, other in (("output[0]", False), ("grad[0]", True)):
        browser.open(tmp_path / "index.html", f"#verdict=mismatch&q={quantity}")
        browser.js("document.querySelector('.tabulator-row').click()")
        assert ("not about this record" in detail(browser)) is other


@pytest.mark.parametrize("dark", [False, True])
def test_on_paper_the_open_record_stands_whole_in_dark_on_light(browser: Browser, run: Path, dark: bool) -> None:
    browser.look(dark=dark)
    browser.open(run / "index.html", "#verdict=mismatch")
    browser.js("document.querySelector('.tabulator-row').click()")
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.call("Emulation.setEmulatedMedia", media="print", features=[scheme])
    style = "getComputedStyle(document.querySelector('{}')).{}"
    assert browser.js(style.format("body", "printColorAdjust")) == "exact"
    assert browser.js((Path(__file__).parents[1] / "contrast.js").read_text()) == []
    assert browser.js("document.querySelector('#detail').checkVisibility()")
    assert not browser.js("document.querySelector('#table').checkVisibility()")
    scrolls = "[...document.querySelectorAll('#detail, #detail pre')].every(e => e.scrollHeight <= e.clientHeight + 2)"
    assert browser.js(scrolls)
    browser.call("Emulation.setEmulatedMedia", media="", features=[])


def test_a_screen_reader_is_told_which_record_opened(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#verdict=mismatch")
    assert browser.js("document.querySelector('#said[role=status]').textContent") == ""
    browser.js("document.querySelector('.tabulator-tableholder').focus()")
    browser.key(*DOWN)
    said = browser.js("document.querySelector('#said').textContent")
    assert said.startswith("mismatch: ") and browser.js("document.querySelector('#detail h3').textContent") in said


def test_names_begin_with_what_is_seen_and_what_scrolls_takes_the_focus(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html")
    seen = "[...document.querySelectorAll('a.cell')].filter(a => !a.ariaLabel.startsWith(a.textContent)).length"
    assert browser.js(seen) == 0
    lists = "[...document.querySelectorAll('ul.list')].filter(e => e.tabIndex !== 0).length"
    assert browser.js(lists) == 0
    holder = "document.querySelector('.tabulator-tableholder')"
    assert browser.js(f"{holder}.role") == "rowgroup"
    assert browser.js("document.querySelectorAll('dl:not(:has(dt))').length") == 0


def test_the_rerun_command_is_copied_whole(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#verdict=mismatch")
    browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.click(".tabulator-row")
    browser.click("#detail .command button")
    browser.until("document.querySelector('#detail .command button').textContent !== 'Copy'")
    assert browser.js("navigator.clipboard.readText()") == browser.js(
        "document.querySelector('#detail .command pre').textContent"
    )


def test_only_https_addresses_become_links(browser: Browser, run: Path, hostile_run: Path) -> None:
    browser.open(run / "index.html", "#verdict=known")
    browser.js("document.querySelector('.tabulator-row').click()")
    assert browser.js("document.querySelector('#detail .reason a').href") == synthetic.KNOWN["link"]
    browser.open(hostile_run / "index.html")
    hrefs = set()
    for _ in range(3 * len(HOSTILE)):
        browser.js("document.querySelector('#detail').hidden ? document.querySelector('.tabulator-row').click() : "
                   "document.querySelector('[aria-label=\"Next record\"]').click()")  # fmt: skip
        hrefs |= set(browser.js("[...document.querySelectorAll('#detail a')].map(a => a.protocol)"))
    assert hrefs == {"https:"}


def test_hostile_texts_never_run_and_are_shown_as_they_are(browser: Browser, hostile_run: Path) -> None:
    browser.open(hostile_run / "index.html", "#q=%3Cimg%20src=x%20onerror=window.pwned=1%3E")
    seen = ""
    for _ in range(3 * len(HOSTILE)):
        browser.js("document.querySelector('#detail').hidden ? document.querySelector('.tabulator-row')?.click() : "
                   "document.querySelector('[aria-label=\"Next record\"]').click()")  # fmt: skip
        seen += detail(browser)
    browser.js("document.querySelector('#clear').click()")
    browser.js(
        "document.querySelectorAll('select').forEach(s => s.dispatchEvent(new Event('change', {bubbles: true})))"
    )
    browser.open(hostile_run / "index.html", "#spec=%3Cscript%3Ewindow.pwned=1%3C/script%3E&verdict=%22%3E")
    assert HOSTILE[1] in seen
    assert browser.js("window.pwned") is None
    assert browser.js("document.querySelectorAll('main img, main svg, main script').length") == 0
    assert browser.said == []


def test_colours_follow_the_system_and_every_text_keeps_its_contrast(browser: Browser, run: Path) -> None:
    backgrounds = set()
    for dark in (False, True):
        browser.look(dark=dark)
        browser.open(run / "index.html", "#verdict=known")
        browser.js("document.querySelector('.tabulator-row').click()")
        backgrounds.add(browser.js("getComputedStyle(document.body).backgroundColor"))
        assert browser.js((Path(__file__).parents[1] / "contrast.js").read_text()) == []
    assert len(backgrounds) == 2


@pytest.mark.parametrize("width", [390, 768, 1400])
def test_the_page_never_scrolls_sideways(browser: Browser, run: Path, width: int) -> None:
    browser.look(width=width)
    browser.open(run / "index.html")
    assert browser.js("document.documentElement.scrollWidth") <= width


def test_every_control_has_a_name(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#verdict=mismatch")
    browser.js("document.querySelector('.tabulator-row').click()")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "link", "textbox", "searchbox", "combobox", "checkbox")
    nameless = [n for n in nodes if n.get("role", {}).get("value") in roles and not n.get("name", {}).get("value")]
    assert not nameless


def test_a_partial_run_has_a_loud_banner(browser: Browser, tmp_path: Path) -> None:
    rows = synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])
    reports.write(tmp_path, synthetic.write(tmp_path, rows, state="interrupted"))
    browser.open(tmp_path / "index.html")
    assert browser.js("document.querySelector('[role=alert]').getBoundingClientRect().top < innerHeight")
    assert browser.js("document.querySelector('h1').textContent").startswith("Partial run.")


def test_a_run_without_records_opens(browser: Browser, tmp_path: Path) -> None:
    reports.write(tmp_path, synthetic.write(tmp_path, [], state="interrupted"))
    browser.open(tmp_path / "index.html")
    assert count(browser) == "0 of 0 records" and browser.said == []


def test_a_hundred_thousand_records_open_and_filter(browser: Browser, tmp_path: Path) -> None:
    rows = synthetic.records(synthetic.ops(400), ["cpu", "gpu:0"], [f"r{i}" for i in range(16)])[:100_000]
    reports.write(tmp_path, synthetic.write(tmp_path, rows))
    browser.open(tmp_path / "index.html", "#q=floor")
    wanted = sum(any("floor" in str(v).lower() for v in (r.case, r.raw_op, r.detail, r.reason)) for r in rows)
    assert count(browser) == f"{wanted:,} of 100,000 records"
    assert (tmp_path / "index.html").stat().st_size < 10e6
    assert browser.js("Number(document.documentElement.dataset.ready)") < 10_000
