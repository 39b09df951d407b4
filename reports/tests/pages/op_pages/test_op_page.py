"""Tests of the pages of ops, without a browser."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.analysis.ops import op_store
from tf_opdiff.reports.data.names.op_names import op_names
from tf_opdiff.reports.pages.op_pages import op_page
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.packed import whole
from tf_opdiff.reports.tests.planted import synthetic


class Page(HTMLParser):
    """The elements and attributes of a page, and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(whole(path.read_text()))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def one_op(folder: Path, *rows: Record) -> Page:
    """The page of `Floor` in a run with these records."""
    reports.write(folder, synthetic.write(folder, rows))
    return Page(folder / "ops" / "Floor.html")


@pytest.fixture
def row() -> Record:
    """A match of `Floor` with a distance."""
    (first, *_) = synthetic.records([("rounding", "floor_ordinary")], ["cpu"], ["edges"])
    return replace(first, verdict="match", kind="", against="numpy", max_ulp=1.5, budget=4.0, mismatched=0)


def test_each_op_of_a_run_has_a_page_and_the_list_has_them_all(run: Path) -> None:
    names = op_names(reports.load(run))
    files = {page.file for page in names.pages} | {"index.html", op_page.STYLE_SHEET}
    assert {p.name for p in (run / "ops").iterdir()} == files
    links = {a.get("href") for tag, a in Page(run / "ops" / "index.html").elements if tag == "a"}
    ways = {"#families", "../index.html", "../discrepancies.html", "../ops/index.html"}
    assert links == {page.file for page in names.pages} | ways


def test_the_sentence_counts_and_names_the_error_nearest_to_its_budget(tmp_path: Path, row: Record) -> None:
    page = one_op(tmp_path, row, replace(row, mode="xla", max_ulp=3.9, quantity="grad[0]"))
    assert "1 dtype × 2 plans, 2 comparisons, no discrepancy." in page.text
    assert (
        "The error nearest to its budget is 3.9 of 4 ULP: float32, gradient grad[0] of floor_ordinary on cpu/xla."
        in page.text
    )


def test_the_sentence_denies_no_distance_that_a_cell_shows(tmp_path: Path, row: Record) -> None:
    exact = replace(row, max_ulp=0.0)
    rounded = replace(row, mode="xla", max_ulp=0.4375, budget=0.5)
    assert "The error nearest to its budget is 0.4375 of 0.5 ULP" in one_op(tmp_path / "rounded", exact, rounded).text
    assert "All distances are 0 ULP." in one_op(tmp_path / "exact", exact, replace(rounded, max_ulp=0.0)).text


def test_a_cell_shows_the_worst_verdict_and_the_worst_distance_and_links_to_its_records(
    tmp_path: Path, row: Record
) -> None:
    known = replace(
        row, case="floor_ordinary-float32-bits", verdict="known", kind="nan", max_ulp=float("nan"), **synthetic.KNOWN
    )
    page = one_op(tmp_path, row, known)
    links = [a["href"] for tag, a in page.elements if tag == "a" and a.get("class") == "v-known"]
    assert links and links[0] is not None and links[0].startswith("../index.html#")
    filters = parse_qs(links[0].partition("#")[2])
    assert filters == {
        "spec": ["floor_ordinary"],
        "device": ["cpu"],
        "mode": ["eager"],
        "q": ["floor_ordinary-float32 output[0]"],
    }
    assert "K 1 1.5 of 4" in " ".join(page.text.split())
    assert "1 known discrepancy" in page.text and synthetic.KNOWN["reason"] in page.text


def test_a_distance_that_a_contract_allows_is_no_distance_of_the_budget(tmp_path: Path, row: Record) -> None:
    flushed = replace(
        row, verdict="contract", max_ulp=900.0, reason="subnormals are flushed", link="https://example.org/"
    )
    page = one_op(tmp_path, row, replace(flushed, case="floor_ordinary-float32-bits"))
    text = " ".join(page.text.split())
    assert "§ 1.5 of 4" in text and "900" not in text
    assert "subnormals are flushed" in text


def test_the_page_lists_the_kernels_of_its_op_and_no_others(tmp_path: Path, row: Record) -> None:
    rows = [{"DstT": ["int8"], "SrcT": ["float64", "int4", "float16"]}, {"DstT": ["int4"], "SrcT": ["int8"]}]
    kernels = {
        "Floor": {"XLA_GPU_JIT": [{}], "NPU": [{}], "GPU": rows, "CPU": [{}]},
        "Ceil": {"CPU": [{"Tother": ["int2"]}]},
    }
    (tmp_path / "kernels.json").write_text(json.dumps(kernels))
    text = " ".join(one_op(tmp_path, row).text.split())
    gpu = "GPU DstT int8 × SrcT float16, float64, int4DstT int4 × SrcT int8"
    listed = f"CPU registered without dtypes {gpu} XLA's compiler for GPUs registered without dtypes NPU registered"
    assert listed in text and "Tother" not in text


def test_an_op_without_a_kernel_is_said_to_have_none_and_an_older_run_says_nothing(tmp_path: Path, row: Record) -> None:
    page = one_op(tmp_path / "older", row)
    assert "registers no kernel" not in page.text
    assert "#kernels" not in {a.get("href") for _, a in page.elements} | {f"#{a.get('id')}" for _, a in page.elements}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "kernels.json").write_text(json.dumps({"Ceil": {"CPU": [{}]}}))
    assert "TensorFlow 2.21.0 registers no kernel for this op." in one_op(tmp_path / "run", row).text


def test_versions_that_differ_are_shown_and_those_that_agree_fold_away(tmp_path: Path, row: Record) -> None:
    rows = [row, replace(row, quantity="grad[0]")]
    info, frame = synthetic.write(tmp_path, rows), reports.load(tmp_path)
    other = op_store.worst_verdicts(frame).assign(tf="2.9.0", made="2030-02-03, run r", machine="<b>hostile</b>")
    other.loc[other["quantity"] == "grad[0]", ["verdict", "max_ulp"]] = "known", 77.0
    sources = op_page.OpSources(records=frame, info=info, names=op_names(frame), stored=other)
    text = whole(op_page.pages(sources)["Floor.html"])
    shown, _, folded = text.partition('id="versions"')[2].partition("The same in all versions: 1")
    assert "77" in shown and "2030-02-03" in shown and 'scope="row">grad[0]' in shown and "output[0]" not in shown
    assert 'scope="row">output[0]' in folded and "&lt;b&gt;hostile" in folded and "<b>hostile" not in text
    alone = op_page.pages(replace(sources, stored=other[other["spec"] == "another"]))["Floor.html"]
    assert "TensorFlow versions" not in whole(alone)


def test_pages_of_an_earlier_write_go_and_links_are_not_followed(tmp_path: Path, row: Record) -> None:
    run, outside = tmp_path / "run", tmp_path / "outside.html"
    outside.write_text("mine")
    one_op(run, row)
    before = {p.name: p.read_bytes() for p in (run / "ops").iterdir()}
    (run / "ops" / "Gone.html").write_text("old")
    (run / "ops" / "Linked.html").symlink_to(outside)
    (run / "ops" / "Floor.html").unlink()
    (run / "ops" / "Floor.html").symlink_to(outside)
    (run / "ops" / "notes.txt").write_text("kept")
    reports.write(run, synthetic.RunInfo.load(run))
    after = {p.name: p.read_bytes() for p in (run / "ops").iterdir()}
    assert after == before | {"notes.txt": b"kept"} and outside.read_text() == "mine"
    assert not (run / "ops" / "Floor.html").is_symlink()


def test_a_folder_of_pages_that_is_a_link_is_refused(tmp_path: Path, row: Record) -> None:
    run, outside = tmp_path / "run", tmp_path / "outside"
    outside.mkdir()
    info = synthetic.write(run, [row])
    (run / "ops").symlink_to(outside)
    with pytest.raises(ValueError, match="got a link"):
        reports.write(run, info)
    assert os.listdir(outside) == []


def test_hostile_texts_make_no_element_and_no_handler(run: Path, hostile_run: Path) -> None:
    ordinary = {tag for path in (run / "ops").glob("*.html") for tag, _ in Page(path).elements}
    for path in (hostile_run / "ops").glob("*.html"):
        page = Page(path)
        assert {tag for tag, _ in page.elements} <= ordinary | {"code", "details", "summary"}
        for tag, attributes in page.elements:
            assert not [name for name in attributes if name.startswith("on")] and "src" not in attributes
            link = attributes.get("href") or "#"
            assert link.startswith(("#", "../", "https://")) or (tag in ("a", "link") and (path.parent / link).exists())


def test_without_scripts_a_page_still_names_its_discrepancies(tmp_path: Path, row: Record) -> None:
    known = replace(row, case="floor_ordinary-float32-bits", verdict="known", kind="nan", **synthetic.KNOWN)
    reports.write(tmp_path, synthetic.write(tmp_path, [row, known]))
    text = (tmp_path / "ops" / "Floor.html").read_text()
    plain = text.partition("<noscript>")[2].partition("</noscript>")[0]
    assert "need" in plain and synthetic.KNOWN["reason"] in plain and "1 known discrepancy" in text


@pytest.mark.browser
def test_a_browser_draws_the_packed_part_and_goes_to_the_place_of_a_link(run: Path, browser: Browser) -> None:
    path = max((run / "ops").glob("*.html"), key=lambda path: len(whole(path.read_text())))
    expected = Page(path)
    browser.open(path, "#kernels")
    assert browser.js("document.documentElement.dataset.failed") is None and browser.said == []
    assert browser.js("document.querySelectorAll('a').length") == sum(tag == "a" for tag, _ in expected.elements)
    assert browser.js("getComputedStyle(document.querySelector('section')).borderTopWidth") == "1px"
    browser.until("Math.abs(document.getElementById('kernels').getBoundingClientRect().top) < innerHeight")
    assert browser.js("scrollY") > 0
