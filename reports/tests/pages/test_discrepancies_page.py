"""The page of all discrepancies: complete without scripts; chosen, grouped and sorted with them; a table as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.reports.data.causes.mechanism import MECHANISMS
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.pages.test_first_screen import CAUSES, RIGHT, cause, failing, known, page, titles

XLA = [replace(row, mode="xla") for row in known(CAUSES[1], 3)]
UNCHECKED = cause("unchecked", "error", link="https://github.com/tensorflow/tensorflow/issues/7")
FIX = "https://github.com/tensorflow/tensorflow/pull/8"
GRAPPLER = msgspec.structs.replace(cause("folds", "wrong_value", fixed=FIX), reason="Grappler folds the sum away")
ALL = (*CAUSES, UNCHECKED, GRAPPLER)


def rows() -> list[Record]:
    status = [replace(row, kind="status", got="value float32[1]", want="error INVALID") for row in known(UNCHECKED)]
    rounds = [replace(row, quantity="grad[0]") for row in known(CAUSES[0], 9)]
    return [*RIGHT, *rounds, *XLA, *known(CAUSES[2]), *status, *known(GRAPPLER, 2), *failing("wrong")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    page(tmp_path, rows(), ALL)
    return tmp_path / "discrepancies.html"


def table_beside(file: Path) -> list[dict[str, str]]:
    """The rows of the table that the page offers."""
    return [*csv.DictReader(io.StringIO((file.parent / "discrepancies.csv").read_text()))]


def shown(browser: Browser) -> list[str]:
    """The titles of the discrepancies that a reader sees."""
    seen = "[...document.querySelectorAll('.discrepancy .title')].filter((e) => e.checkVisibility())"
    found: list[str] = browser.js(f"{seen}.map((e) => e.textContent.replace('The title of ', '').replace('.', ''))")
    return found


def choose(browser: Browser, **fields: str) -> None:
    """Sets fields of the form as a reader does."""
    for name, value in fields.items():
        browser.js(f"document.querySelector('#choose').elements.{name}.value = {value!r}")
    browser.js("document.querySelector('#choose').dispatchEvent(new Event('input'))")


def test_without_scripts_all_are_listed_once_and_the_table_has_the_same(file: Path) -> None:
    text = file.read_text()
    assert len(titles(text)) == len(set(titles(text))) == 6 and '<form id="choose" hidden' in text
    table = table_beside(file)
    assert [row["title"].removesuffix(".") + "." for row in table] == titles(text)
    assert sum(int(row["records"]) for row in table) == len(reports.load(file.parent)) - len(RIGHT)


def test_the_mechanism_follows_from_cause_plans_and_numbers(file: Path) -> None:
    table = table_beside(file)
    assert {row["id"].partition("/")[0]: row["mechanism"] for row in table} == {
        "wrong": "Kernel or function",
        "rounds": "Gradient formula",
        "reads-memory": "XLA lowering",
        "far": "Kernel or function",
        "unchecked": "Missing check",
        "folds": "Grappler rewrite",
    }
    assert {row["mechanism"] for row in table} <= {*MECHANISMS}


@pytest.mark.browser
def test_filters_sorts_and_groups_choose_what_is_listed(browser: Browser, file: Path) -> None:
    browser.open(file)
    assert len(shown(browser)) == 6
    choose(browser, mechanism="XLA lowering")
    assert shown(browser) == ["reads-memory"]
    assert browser.js("document.querySelector('#chosen').textContent") == "1 of 6 discrepancies"
    choose(browser, mechanism="", upstream="reported")
    assert shown(browser) == ["unchecked"]
    choose(browser, upstream="fixed")
    assert shown(browser) == ["folds"]
    choose(browser, upstream="", q="rounds")
    assert shown(browser) == ["rounds"]
    choose(browser, q="", sort="records")
    assert shown(browser)[:2] == ["rounds", "reads-memory"]
    choose(browser, sort="", group="mechanism")
    groups = "[...document.querySelectorAll('#list .group > summary')].map((e) => e.textContent)"
    counts = {
        "Kernel or function": 2,
        "Grappler rewrite": 1,
        "XLA lowering": 1,
        "Missing check": 1,
        "Gradient formula": 1,
    }
    assert sorted(browser.js(groups)) == sorted(f"{name} {n}" for name, n in counts.items())
    assert shown(browser) == [] and browser.js("location.hash") == "#group=mechanism"


@pytest.mark.browser
def test_the_address_keeps_the_choice_and_opens_one_discrepancy(browser: Browser, file: Path) -> None:
    browser.open(file, "#severity=accuracy&group=")
    assert shown(browser) == ["rounds"]
    browser.open(file, "#is-far")
    assert browser.js("document.querySelector('#is-far details').open")
    browser.open(file, "#severity=nonsense&sort=&q=")
    assert len(shown(browser)) == 6


@pytest.mark.browser
def test_the_records_of_a_discrepancy_are_on_the_page_of_the_run(browser: Browser, file: Path) -> None:
    browser.open(file)
    address = browser.js("document.querySelector('#is-reads-memory a.filter').href")
    assert address.endswith("index.html#verdict=known&cause=reads-memory")
    browser.open(file.parent / "index.html", "#" + address.partition("#")[2])
    assert browser.js("document.querySelector('#count').textContent").startswith("3 of ")
