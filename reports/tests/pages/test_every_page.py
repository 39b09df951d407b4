"""Every page at three widths, in light, dark and print, by keyboard alone, checked by axe-core."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.command_line import main
from tf_opdiff.harness.judge.differences.self_check import OTHER_BITS
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.batch_matrix import BatchMatrix, batch_matrix
from tf_opdiff.reports.analysis.ops import op_store
from tf_opdiff.reports.analysis.overrides.override_devices import override_devices, programs
from tf_opdiff.reports.analysis.overrides.override_matrix import override_matrices
from tf_opdiff.reports.data.names.op_names import op_names
from tf_opdiff.reports.data.run_data.load import load_kernels
from tf_opdiff.reports.pages.op_pages import op_page
from tf_opdiff.reports.pages.run_pages import batches_page, overrides_page
from tf_opdiff.reports.tests.analysis.test_claims import claimed_run  # noqa: F401  a fixture
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.packed import whole
from tf_opdiff.reports.tests.planted import planted_overrides, synthetic

pytestmark = pytest.mark.browser

PAGES = ("run", "discrepancies", "search", "ops", "batches", "op", "claims", "diff", "history", "coverage", "overrides")
#: The looks of a page: width in CSS pixels, and colours or print.
LOOKS = {
    "phone": {"width": 390, "height": 844},
    "laptop": {"width": 1440, "height": 900},
    "wide": {"width": 2560, "height": 1440},
    "dark": {"width": 1440, "height": 900, "dark": True},
    "printed": {"width": 794, "height": 1123, "printed": True},
}


@pytest.fixture(scope="module")
def pages(
    rows: list[Record],
    run: Path,
    claimed_run: Path,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(run, folder / "later")
    first = synthetic.write(folder / "earlier", rows[::2], run="earlier", started="2031-05-01T00:00:00+00:00")
    reports.write(folder / "earlier", first)
    main(["diff", str(folder / "earlier"), str(folder / "later"), "--html", str(folder / "diff.html")])
    assert main(["history", str(folder), "--html", str(folder / "history.html")]) == 0
    assert main(["coverage", "--run", str(run), "--html", str(folder / "coverage.html")]) == 0
    op = folder / "op" / "ops" / "Floor.html"
    op.parent.mkdir(parents=True)
    records, kernels = reports.load(run), load_kernels(run)
    info, names = RunInfo.load(run), op_names(records)
    other = op_store.worst_verdicts(records).assign(tf="2.9.0", made="2030-02-03, run r", machine="P")
    other.loc[other.index % 2 == 0, "max_ulp"] = 77.0
    sources = op_page.OpSources(records=records, info=info, names=names, kernels=kernels, stored=other)
    texts = op_page.pages(sources)
    style = texts.pop(op_page.STYLE_SHEET)
    (op.parent / op_page.STYLE_SHEET).write_text(style)
    op.write_text(max(texts.values(), key=lambda text: len(whole(text))))
    assert 'id="versions"' in whole(op.read_text()) and 'id="kernels"' in whole(op.read_text())
    (folder / "batches.html").write_text(
        batches_page.html(_batches(records), info, {"floor-batches": "ops/Floor.html"})
    )
    overrides, cells = planted_overrides.overrides(), planted_overrides.records()
    frame = _frame([*cells, *(replace(record, device="gpu:0") for record in cells)])
    matrices, others = override_matrices(frame, overrides), override_devices(frame, overrides)
    (folder / "overrides.html").write_text(overrides_page.html(matrices, others, programs(overrides), info))
    return {
        "run": run / "index.html",
        "discrepancies": run / "discrepancies.html",
        "search": run / "search.html",
        "ops": run / "ops" / "index.html",
        "batches": folder / "batches.html",
        "op": op,
        "claims": claimed_run / "claims.html",
        "diff": folder / "diff.html",
        "history": folder / "history.html",
        "coverage": folder / "coverage.html",
        "overrides": folder / "overrides.html",
    }


def _frame(records: list[Record]) -> pd.DataFrame:
    """Records as a table."""
    return pd.DataFrame([asdict(record) for record in records])


def _batches(records: pd.DataFrame) -> BatchMatrix:
    """A matrix with a cell of each state, from the first records of a run."""
    states = (("match", "", ""), ("match", "", OTHER_BITS), ("mismatch", "leak", ""), ("unavailable", "", ""))
    rows = []
    for n, (verdict, kind, detail) in enumerate((*states, ("match", "nondeterministic", ""))):
        row = records.iloc[0].to_dict() | {"verdict": verdict, "kind": kind, "kinds": kind, "detail": detail}
        against = "numpy" if verdict == "unavailable" else f"{row['device']}/{row['mode']}"
        rows.append(row | {"spec": "floor-batches", "recipe": f"rows_{2 + n}", "against": against, "max_ulp": 3.0})
    matrix = batch_matrix(pd.DataFrame(rows))
    assert matrix is not None and all(matrix.counts.values())
    return matrix


@contextmanager
def opened(browser: Browser, page: Path, **look: int | bool) -> Iterator[None]:
    """The page, loaded afresh, until its scripts have drawn it."""
    browser.look(**look)  # type: ignore[arg-type]
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=page.resolve().as_uri())
    browser.until("document.readyState === 'complete'")
    if 'id="data"' in page.read_text():
        browser.until("document.documentElement.dataset.ready || document.documentElement.dataset.failed")
    try:
        yield
    finally:
        browser.look()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_axe_sees_no_violation(browser: Browser, pages: dict[str, Path], name: str, look: str) -> None:
    with opened(browser, pages[name], **LOOKS[look]):
        if look == "printed":
            assert len(browser.call("Page.printToPDF")["data"]) > 10_000
        else:  # on paper, a table that scrolls on a screen is shrunk with its page
            assert browser.js("document.documentElement.scrollWidth <= innerWidth")
        assert browser.violations() == []
    assert browser.said == []
    own = {pages[name].resolve().as_uri(), (pages[name].parent / op_page.STYLE_SHEET).resolve().as_uri()}
    assert {url for url in browser.asked if not url.startswith("about:")} <= own


@pytest.mark.parametrize("name", PAGES)
def test_axe_sees_no_violation_in_what_is_folded(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], **LOOKS["laptop"]):
        browser.js("document.querySelectorAll('details').forEach(part => part.open = true)")
        assert browser.js("document.documentElement.scrollWidth <= innerWidth")
        assert browser.violations() == []


def test_axe_sees_a_planted_violation(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["run"], **LOOKS["laptop"]):
        browser.js("document.querySelector('main').append(document.createElement('button'))")
        (line,) = browser.violations()
        assert line.startswith("button-name (critical)")


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_reaches_every_control_in_order(browser: Browser, pages: dict[str, Path], name: str) -> None:
    """Tab visits the first controls of the page in the order of the document, and each shows that it has the focus."""
    with opened(browser, pages[name], **LOOKS["laptop"]):
        visited = []
        for _ in range(25):
            browser.key("Tab", 9)
            if browser.js("document.activeElement === document.body"):  # after the last control
                break
            focused = browser.js(_FOCUSED)
            if visited and focused[0] == visited[0][0]:  # or at once at the first control again
                break
            visited.append(focused)
        assert [html for _, shows, html in visited if not shows] == []
        places = [place for place, _, _ in visited]
        assert len(places) > 3 and places == sorted(set(places))


#: The place of the element with the focus in the order of the document, whether it shows the focus, and its beginning.
_FOCUSED = """(() => {
  const at = document.activeElement, style = getComputedStyle(at), next = at.nextElementSibling;
  const beside = next && getComputedStyle(next);
  const shows = [style, beside].some((one) => one && one.outlineStyle !== 'none' && parseFloat(one.outlineWidth) > 0);
  const place = [...document.querySelectorAll('*')].indexOf(at);
  return [place, shows || style.boxShadow !== 'none', at.outerHTML.slice(0, 200)];
})()"""
