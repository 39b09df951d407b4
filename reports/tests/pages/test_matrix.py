"""Tests of the matrix on a run's page, in a real browser."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.tests.patience import PATIENCE
from tf_opdiff.reports.analysis.grid import OPENED
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.planted import synthetic

pytestmark = pytest.mark.browser
#: The rows of a table: the name, then the texts of the cells.
ROWS = (
    "[...{}.querySelectorAll('tbody tr')].map(row => [row.cells[0].textContent.replace(/[▸↗]/g, '').trim(),"
    " ...[...row.cells].slice(1).map(cell => cell.textContent)])"
)
#: The rows without the links to the pages of ops.
DRAWN = ROWS.format("document.querySelector('#matrix')")
STATIC = ROWS.format(
    "new DOMParser().parseFromString(document.querySelector('#matrix-static').textContent, 'text/html')"
)
CONTRAST = (Path(__file__).parents[1] / "contrast.js").read_text()
PLANTED = ("float32", "int32")


def rows_of(browser: Browser) -> dict[str, list[str]]:
    return {name: cells for name, *cells in browser.js(DRAWN)}


def fragment(browser: Browser) -> dict[str, list[str]]:
    return parse_qs(browser.js("location.hash.slice(1)"))


def choose(browser: Browser, name: str, value: str) -> None:
    select = f"document.querySelector('select[name=\"matrix.{name}\"]')"
    browser.js(f"{select}.value = '={value}'; {select}.dispatchEvent(new Event('change', {{bubbles: true}}))")


def open_all(browser: Browser) -> None:
    browser.js("document.querySelector('[data-suites=open]').click()")


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with known distances, severities and dtypes, two suites, and two plans; one case did not run."""
    directory = tmp_path_factory.mktemp("planted")
    base = [r for r in synthetic.records([("s", "op")], ["cpu"], ["edges"]) if r.quantity == "output[0]"]
    rows = [_planted(row, *row_and_spec) for row, row_and_spec in itertools.product(base[:2], _SPECS)]
    lost = [{"case": f"gone-{d}-edges", "device": "cpu", "mode": "eager", "why": "never started"} for d in PLANTED]
    info = synthetic.write(directory, rows, planned=len(rows) + 2, not_run=lost, state="interrupted")
    reports.write(directory, info)
    return directory


#: Suite, spec, dtype, verdict, kind, error in ULP, budget in ULP, severity and oracle of each planted record.
_SPECS = (
    ("s", "exact", "float32", "match", "", 0.0, 0.0, "", "numpy"),
    ("s", "near", "float32", "match", "", 0.999, 1.0, "", "numpy"),
    ("s", "near", "int32", "match", "", 0.001, 1.0, "", "numpy"),
    ("s", "tiny", "float32", "match", "", 0.004, 4.0, "", "numpy"),
    ("s", "nan", "float32", "mismatch", "nan", 5.0, 1.0, "special_value", "numpy"),
    ("t", "far", "float32", "known", "value", 1234.0, 2.0, "accuracy", "numpy"),
    ("t", "none_allowed", "int32", "mismatch", "value", 3.0, 0.0, "wrong_value", "numpy"),
    ("t", "infinite", "float32", "mismatch", "value", math.inf, 2.0, "wrong_value", "numpy"),
    ("t", "documented", "float32", "contract", "", 7.0, 2.0, "", "numpy"),
    ("t", "claimed", "float32", "match", "", 9.0, 2.0, "", "claim:c01-one"),
)  # fmt: skip


def _planted(row: Record, *fields: object) -> Record:
    names = ("suite", "spec", "dtype", "verdict", "kind", "max_ulp", "budget", "severity", "against")
    about = dict(zip(names, fields, strict=True))
    return replace(row, case=f"{about['spec']}-{about['dtype']}-edges", **about, size=67, got="1.0", want="2.0")


def test_the_page_counts_the_cells_as_the_static_matrix_does(browser: Browser, run: Path, planted: Path) -> None:
    for directory in (run, planted):
        browser.open(directory / "index.html")
        open_all(browser)
        assert browser.js(DRAWN) == browser.js(STATIC)
        assert len(browser.js(DRAWN)) > 8
    assert rows_of(browser)["gone"] == ["? 2", "·"]


def test_without_javascript_every_row_of_the_matrix_is_shown(browser: Browser, run: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=(run / "index.html").resolve().as_uri())
        end = time.monotonic() + PATIENCE
        while not browser.js("document.readyState === 'complete' && document.querySelector('footer') !== null"):
            assert time.monotonic() < end, "the page did not load"
        shown = "[...document.querySelectorAll('.matrix tbody tr')].filter(r => r.checkVisibility()).length"
        assert browser.js(shown) == len(synthetic.OPS) + len(synthetic.ops())
        assert not browser.js("document.querySelector('#matrix-filters').checkVisibility()")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_where_the_records_cannot_be_read_the_static_matrix_stands_in(browser: Browser, run: Path) -> None:
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    try:
        browser.open(run / "index.html")
        assert "DecompressionStream" in browser.js("document.documentElement.dataset.failed")
        assert browser.js("document.querySelectorAll('.matrix tr.spec').length") == len(synthetic.ops())
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def test_an_error_is_shown_in_ulp_and_as_a_share_of_its_budget(browser: Browser, planted: Path) -> None:
    shown = {
        "exact": ("0", "0%"), "near": ("1", "99%"), "tiny": ("<0.01", "<1%"), "s": ("1", "99%"),
        "far": ("1k", "▲ ×617"), "none_allowed": ("3", "▲ ∞"), "infinite": ("∞", "▲ ∞"), "documented": ("7", "–"),
        **dict.fromkeys(("nan", "claimed", "gone"), ("–", "–")),
    }  # fmt: skip
    for column, show in enumerate(("ulp", "budget")):
        browser.open(planted / "index.html", f"#matrix.show={show}")
        open_all(browser)
        rows = {name.split()[0]: cells for name, cells in rows_of(browser).items()}
        assert {name: rows[name][0] for name in shown} == {name: texts[column] for name, texts in shown.items()}
    assert browser.js("document.querySelector('a.cell.heat-over').textContent.startsWith('▲')")
    over = (
        "[...document.querySelectorAll('a.cell')].filter(a => a.textContent.includes('▲') !== a.matches('.heat-over'))"
    )
    assert browser.js(f"{over}.length") == 0
    assert "0% of" not in browser.js("document.querySelector('#matrix-steps').textContent")
    assert "beyond the budget" in browser.js("document.querySelector('#matrix-steps').innerText")


def test_a_cell_of_errors_opens_the_record_with_the_largest_one(browser: Browser, planted: Path) -> None:
    browser.open(planted / "index.html", "#matrix.show=ulp&matrix.suite=s")
    browser.js(
        "[...document.querySelectorAll('#matrix a.cell')].find(a => a.title.startsWith('near on cpu/eager')).click()"
    )
    assert browser.js("document.querySelector('#detail h3').textContent") == "near-float32-edges"
    about = fragment(browser)
    assert (about["spec"], about["matrix.show"], about["matrix.suite"]) == (["near"], ["ulp"], ["s"])
    assert browser.js("document.querySelector('#count').textContent") == "2 of 20 records"


def test_a_spec_links_to_the_page_of_its_op(browser: Browser, run: Path) -> None:
    browser.open(run / "index.html", "#matrix.suite=rounding")
    links = browser.js("[...document.querySelectorAll('#matrix a.page')].map(a => a.getAttribute('href'))")
    assert len(links) == len(synthetic.OPS["rounding"].split())
    assert all((run / link).is_file() for link in links)


@pytest.mark.parametrize(
    ("name", "value", "names"),
    [
        ("suite", "s", {"s", "exact", "near", "nan", "tiny"}),
        ("dtype", "int32", {"s", "t", "near", "none_allowed", "(no record)", "gone"}),
        ("mode", "eager", {"s", "t", "(no record)", "gone", *(spec for _, spec, *_ in _SPECS)}),
        ("severity", "wrong_value", {"t", "none_allowed", "infinite"}),
    ],
)  # fmt: skip
def test_each_filter_leaves_its_cells_only_and_lands_in_the_address(
    browser: Browser, planted: Path, name: str, value: str, names: set[str]
) -> None:
    browser.open(planted / "index.html")
    before = browser.js(DRAWN)
    choose(browser, name, value)
    assert fragment(browser) == {f"matrix.{name}": [value]}
    shown = browser.js(DRAWN)
    assert {" ".join(w for w in line[0].split() if not w.isdigit()) for line in shown} == names
    assert {len(line) for line in shown} == {2 if name == "mode" else 3}
    browser.open(planted / "index.html", f"#matrix.{name}={value}")
    assert browser.js(DRAWN) == shown
    assert browser.js("document.querySelector('#count').textContent") == "20 of 20 records"
    browser.js("document.querySelector('#matrix-clear').click()")
    assert browser.js(DRAWN) == before and fragment(browser) == {}
    browser.js("history.back()")
    browser.until(f"location.hash === '#matrix.{name}={value}'")
    browser.until(f"document.querySelectorAll('#matrix tbody tr').length === {len(shown)}")


def test_severity_and_dtype_filter_the_records_and_the_details_name_them(browser: Browser, planted: Path) -> None:
    browser.open(planted / "index.html", "#severity=wrong_value&dtype=int32")
    assert browser.js("document.querySelector('#count').textContent") == "2 of 20 records"
    browser.js("document.querySelector('.tabulator-row').click()")
    severity = "[...document.querySelectorAll('#detail dt')].find(dt => dt.textContent === 'Severity')"
    assert browser.js(f"{severity}.nextElementSibling.textContent") == "silently wrong value"


def test_a_filter_without_a_choice_is_hidden_unless_a_link_sets_it(browser: Browser, run: Path) -> None:
    selects = "[...document.querySelectorAll('#filters select, #matrix-filters select')]"
    visible = f"{selects}.filter(s => s.checkVisibility()).map(s => s.name)"
    browser.open(run / "index.html")
    assert not {"dtype", "severity", "matrix.dtype", "matrix.severity"} & set(browser.js(visible))
    browser.open(run / "index.html", "#dtype=int8&matrix.severity=memory&matrix.show=constructor")
    assert {"dtype", "matrix.severity"} <= set(browser.js(visible))
    assert "No cell passes these filters." in browser.js("document.querySelector('#matrix').textContent")


def test_folded_suites_have_no_rows_until_the_keyboard_opens_them(browser: Browser, tmp_path: Path) -> None:
    rows = synthetic.records([("many", f"op{i}") for i in range(OPENED + 1)], ["cpu"], ["edges"])
    reports.write(tmp_path, synthetic.write(tmp_path, rows))
    browser.open(tmp_path / "index.html")
    specs = "document.querySelectorAll('#matrix tr.spec').length"
    assert browser.js(specs) == 0
    browser.js("document.querySelector('#matrix button').focus()")
    browser.key("Enter", 13)
    assert browser.js(specs) == OPENED + 1
    assert browser.js("document.activeElement.getAttribute('aria-expanded')") == "true"
    browser.js("document.querySelector('[data-suites=close]').click()")
    assert browser.js(specs) == 0


def test_a_long_list_of_specs_is_complete_when_the_reader_turns_to_it(browser: Browser, tmp_path: Path) -> None:
    rows = synthetic.records([("many", f"op{i}") for i in range(OPENED + 1)], ["cpu"], ["edges"])
    reports.write(tmp_path, synthetic.write(tmp_path, rows))
    browser.open(tmp_path / "index.html", "#spec=op7")
    select = "document.querySelector('#filters [name=spec]')"
    assert browser.js(f"{select}.selectedOptions[0].textContent") == "op7"
    browser.js(f"{select}.focus()")
    assert browser.js(f"[{select}.options.length, {select}.value]") == [OPENED + 2, "=op7"]


@pytest.mark.parametrize("width", [390, 1440, 2560])
def test_sixteen_plans_stay_readable_at_every_width(browser: Browser, tmp_path: Path, width: int) -> None:
    rows = synthetic.records(synthetic.ops(8), ["cpu", "gpu:0", "gpu:1", "tpu:0"], ["edges"])
    reports.write(tmp_path, synthetic.write(tmp_path, rows))
    browser.look(width=width)
    browser.open(tmp_path / "index.html")
    assert browser.js("document.documentElement.scrollWidth") <= width
    heads = "[...document.querySelectorAll('#matrix thead tr:last-child th')]"
    assert browser.js(f"{heads}.length") == 16
    assert browser.js(f"{heads}.every(h => h.scrollWidth <= h.clientWidth && h.clientHeight < 30)")
    cells = "[...document.querySelectorAll('#matrix .cell')]"
    assert browser.js(f"{cells}.every(c => c.scrollWidth <= c.clientWidth)")
    holder = "document.querySelector('.matrix-holder')"
    assert browser.js(f"{holder}.scrollWidth <= {holder}.clientWidth") is (width > 390)
    browser.js(f"{holder}.scrollLeft = 500")
    assert browser.js("document.querySelector('#matrix tbody th').getBoundingClientRect().left >= 0")


@pytest.mark.parametrize("show", ["verdict", "ulp", "budget"])
def test_every_cell_keeps_its_contrast_and_begins_its_name_with_its_text(
    browser: Browser, planted: Path, show: str
) -> None:
    for dark in (False, True):
        browser.look(dark=dark)
        browser.open(planted / "index.html", f"#matrix.show={show}")
        open_all(browser)
        assert browser.js(CONTRAST) == []
    names = (
        "[...document.querySelectorAll('#matrix a.cell')].filter(a => !a.ariaLabel.startsWith(a.textContent)).length"
    )
    assert browser.js(names) == 0
    assert browser.said == []


def test_the_page_shows_the_largest_errors_that_the_records_have(browser: Browser, run: Path) -> None:
    records = reports.load(run)
    distances = records[records["kind"].isin(["", "value"]) & records["max_ulp"].notna()]
    largest = distances.groupby(["spec", "device", "mode"], observed=True)["max_ulp"].max()
    browser.open(run / "index.html", "#matrix.show=ulp")
    open_all(browser)
    words = browser.js("[...document.querySelectorAll('#matrix tr.spec a.cell')].map(a => a.title)")
    shown = {}
    for text in words:
        place, _, content = text.partition(": ")
        spec, _, plan = place.partition(" on ")
        if " ULP of " in content:
            shown[spec, *plan.split("/")] = content.partition(" ULP")[0].replace(",", "")
    assert set(shown) == set(largest.index)
    assert {key: float(text) for key, text in shown.items()} == pytest.approx(_rounded(largest), rel=1e-3)


def _rounded(numbers: pd.Series) -> dict[tuple[str, ...], float]:
    return {key: float(f"{number:.3e}") for key, number in numbers.items()}


def test_a_long_suite_name_begins_beside_its_arrow(browser: Browser, tmp_path: Path) -> None:
    rows = synthetic.records([("automatic_control_dependencies", "assign")], ["cpu"], ["edges"])
    reports.write(tmp_path, synthetic.write(tmp_path, rows))
    for width in (390, 1440):
        browser.look(width=width)
        browser.open(tmp_path / "index.html")
        arrow, name = (
            f"document.querySelector('#matrix button .{part}').getBoundingClientRect()" for part in ("arrow", "name")
        )
        assert browser.js(f"{arrow}.right <= {name}.left && {arrow}.top < {name}.top + 12")
        assert browser.js(f"{name}.right <= document.querySelector('#matrix .total th').getBoundingClientRect().right")
