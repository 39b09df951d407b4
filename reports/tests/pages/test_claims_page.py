"""Tests of the page of claims: in a browser, and its evidence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.reports.analysis.claim_tables.claim_evidence import ShownElement, evidence
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data.load import load
from tf_opdiff.reports.tests.analysis.test_claims import CAME, claim, rows
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.planted import synthetic

TOPIC = {"says": "A floor has no slope.", "post": "tf.floor(x)", "today": "It is so.", "instead": "Use a ramp."}
ENTER, TAB = ("Enter", 13), ("Tab", 9)
SHOWN = "[...document.querySelectorAll('.claim')].filter(c => !c.closest('[hidden]')).map(c => c.id)"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run with claims that have every field."""
    directory = tmp_path_factory.mktemp("claimed")
    info = synthetic.write(directory, rows())
    told = [claim(name, parameters=["step"], words={}) for name in (*CAME, "C06")]
    for one in told:
        one["topic"] |= TOPIC | {"paste": f"print('{one['id']}')\n" + "# a long line " * 20}
        one["topic"]["restated"] = "The answer" if one["topic"]["id"] == "C02" else ""
    (directory / "claims.json").write_text(json.dumps(told))
    reports.write(directory, info)
    return directory / "claims.html"


def test_the_box_with_the_posts_program_says_that_it_is_in_short(page: Path) -> None:
    text = page.read_text()
    box = text[text.index('<div class="post">') :]
    assert "The post's program, in short</p>" in box[: box.index("tf.")]


def test_a_topic_whose_origin_was_not_read_says_that_it_rests_on_a_restatement(page: Path) -> None:
    other, restated, *_ = page.read_text().split('<section id="')[1:]
    assert "The answer could not be read: what stands here rests on a restatement.</dd>" in restated
    assert "The post's program, as restated</p>" in restated
    assert "restate" not in other


@pytest.fixture
def at(browser: Browser, page: Path):
    """Opens the page at a fragment."""

    def open_at(fragment: str = "") -> Browser:
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=page.resolve().as_uri() + fragment)
        browser.until("document.readyState === 'complete' && !!document.querySelector('#count')?.textContent")
        return browser

    return open_at


@pytest.mark.browser
def test_a_link_opens_what_it_points_to_and_shows_all_of_it(at, page: Path) -> None:
    browser = at("#C02-claim")
    text = browser.js("document.querySelector('#C02-claim').innerText")
    for part in ("It is C02.", "true in graph only", "confirmed: cpu/graph", "because of the derivation", "step = 0.25",
                 "1.5", "2.5", "def right", "all as promised"):  # fmt: skip
        assert part in text
    assert browser.js("document.querySelector('#C02-claim').getBoundingClientRect().top") < 100
    assert browser.js("document.querySelectorAll('.claim[open]').length") == 1
    assert browser.js("getComputedStyle(document.querySelector('#C02-claim .code .k')).color") != browser.js(
        "getComputedStyle(document.querySelector('#C02-claim .code')).color"
    )
    browser.js("location.hash = '#C01b'")
    browser.until("document.querySelector('#C01b').open")
    browser.js("document.querySelector('#C01b').open = false")
    browser.js("document.querySelector('a.mark[href=\"#C01b\"]').click()")
    browser.until("document.querySelector('#C01b').open")
    assert browser.said == []
    assert {url.partition("#")[0] for url in browser.asked if not url.startswith("about:")} == {page.resolve().as_uri()}


@pytest.mark.browser
def test_a_search_finds_claims_by_word_and_shows_them(at) -> None:
    browser = at()
    assert browser.js(SHOWN) == ["C01a", "C01b", "C02-claim", "C03-claim", "C04a", "C04b", "C05a", "C06-claim"]
    browser.js("document.querySelector('form.tools input[type=search]').focus()")
    browser.type("c01B it")
    assert browser.js(SHOWN) == ["C01b"]
    assert browser.js("document.querySelector('#C01b').checkVisibility()")
    assert browser.js("document.querySelector('#count').textContent") == "1 of 8 claims on 6 topics, on 1"
    browser.js("document.querySelector('form.tools').reset()")
    browser.type("it/c01B, ")
    assert browser.js(SHOWN) == ["C01b"]
    browser.type("zzz")
    assert browser.js(SHOWN) == ["C01b"]
    assert browser.js("document.querySelector('#count').textContent").endswith("None has all 3 words; these have 2.")
    browser.js("document.querySelector('form.tools').reset()")
    browser.type("zzz")
    assert browser.js(SHOWN) == [] and browser.js("document.querySelector('#nothing').checkVisibility()")
    browser.click("#nothing button")
    assert len(browser.js(SHOWN)) == 8
    assert not browser.js("document.querySelector('#C01b').checkVisibility()")


@pytest.mark.browser
def test_the_address_holds_the_search_and_the_filters(at) -> None:
    browser = at()
    browser.js("document.querySelector('form.tools input[type=search]').focus()")
    browser.type("where/c01B")
    browser.js("document.querySelector('input[value=\"false\"]').click()")
    address = browser.js("location.hash")
    assert address == "#q=where%2Fc01B&word=false"
    browser = at(address)
    assert browser.js(SHOWN) == ["C01b"]
    assert browser.js("document.querySelector('input[value=\"false\"]').checked")


@pytest.mark.browser
def test_topics_whose_titles_have_the_word_come_first(at) -> None:
    first = "document.querySelector('section.topic').id"
    browser = at("#q=c04")
    assert browser.js(first) == "C04"
    browser.click("button[name=open]")
    browser.js("location.hash = '#q='")
    browser.until(f"{first} === 'C01'")


@pytest.mark.browser
def test_a_button_copies_a_program(at) -> None:
    browser = at()
    browser.js("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }")
    browser.click(".paste summary")
    browser.click(".paste .copy")
    browser.until("document.querySelector('.paste .copy').textContent === 'Copied'")
    assert browser.js("globalThis.copied").startswith("print('C01a')")


@pytest.mark.browser
def test_a_filter_leaves_claims_of_its_verdicts_and_a_link_to_another_clears_it(at) -> None:
    browser = at()
    for word, ids in {"false": ["C01b"], "true in this mode only": ["C01b", "C02-claim", "C05a"]}.items():
        browser.js(f"document.querySelector('input[value=\"{word}\"]').click()")
        assert browser.js(SHOWN) == ids
    browser.js("location.hash = '#C04a'")
    browser.until("document.querySelector('#C04a').open")
    assert len(browser.js(SHOWN)) == 8


@pytest.mark.browser
def test_the_keyboard_alone_searches_filters_and_unfolds(at) -> None:
    browser = at()
    for expected in ("a", *("a", "a", "a", "a", "input"), "a", "input", "button", "button", "input"):
        browser.key(*TAB)
        assert browser.js("document.activeElement.localName") == expected
    browser.key(" ", 32)
    assert browser.js(SHOWN) == ["C01a", "C04a"]
    browser.js("document.querySelector('.paste summary').focus()")
    browser.key(*ENTER)
    assert browser.js("document.querySelector('.paste').open")
    browser.js("document.querySelector('#C01a summary').focus()")
    browser.key(*ENTER)
    assert browser.js("document.querySelector('#C01a').open")


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_a_narrow_window_needs_no_scrolling_sideways_folded_or_open(at, dark: bool) -> None:
    browser = at()
    for width in (390, 1440):
        browser.look(width=width, height=800, dark=dark)
        for name in ("open", "fold"):
            browser.js(f"document.querySelector('button[name={name}]').click()")
            assert browser.js("document.documentElement.scrollWidth <= innerWidth")
            assert browser.js("[...document.querySelectorAll('main details')].every(d => d.open)") == (name == "open")


@pytest.mark.browser
def test_without_scripts_everything_is_there_and_nothing_that_needs_them(browser: Browser, page: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.call("Page.navigate", url=page.resolve().as_uri())
        browser.until("document.readyState === 'complete' && !!document.querySelector('footer')")
        assert not browser.js("document.querySelector('form.tools').checkVisibility()")
        browser.click(".tests summary")
        browser.click("#C01a summary")
        assert "def program_C01a" in browser.js("document.querySelector('#C01a').innerText")
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_the_policy_admits_the_pages_own_script_only(page: Path) -> None:
    text = page.read_text().replace("&#39;", "'")
    assert re.search(
        r"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[\w+/=]+'\"", text.replace("&#39;", "'")
    )
    assert not re.search(r"\son\w+=", text)


def test_evidence_names_the_inputs_and_shows_the_simplest_element_beside_the_worst(page: Path) -> None:
    records = load(page.parent)
    some = records[records["against"] == "claim:C01b"].head(1).copy()
    texts = {"quantity": "grad[1]", "input": "0.5, [1, 2], (3, 4)", "example_index": "[0]"}
    texts |= {"example": "input 0.25, [1, 2], (3, 4), got 7.0, want 8.0"}
    some[list(texts)] = pd.DataFrame([texts], index=some.index)
    evident = tables.rows(some.assign(plan=tables.plans(some)))
    (row,) = evidence(evident, [{"spec": "c01b", "denies": False, "parameters": ["step", "box", "pair"]}])
    assert row["about"] == "gradient of box"
    others = [("box", "[1, 2]"), ("pair", "(3, 4)")]
    assert row["elements"] == [
        ShownElement("[0]", [("step", "0.25"), *others], "7.0", "8.0"),
        ShownElement("[3]", [("step", "0.5"), *others], "1.5", "2.5"),
    ]
    (row,) = evidence(evident, [{"spec": "c01b", "denies": False, "parameters": ["x"]}])
    assert row["elements"][1].inputs == [("", "0.5, [1, 2], (3, 4)")]
