"""Tests of the claims' verdicts and of their page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.record import Record
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.reports.analysis import claim_lines, claim_store, claim_verdicts, claims
from tf_opdiff.reports.data.load import load_claims
from tf_opdiff.reports.pages import claims_page
from tf_opdiff.reports.tests import synthetic
from tf_opdiff.reports.tests.browser import Browser
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.pages.test_page import Page

#: How the records of each claim come out by mode; the second of a pair is that of another case.
CAME: dict[str, dict[str, tuple[str, ...]]] = {
    "C01a": dict.fromkeys(MODES, ("match",)),
    "C01b": dict.fromkeys(MODES, ("contract",)),
    "C02": dict.fromkeys(MODES, ("contract",)) | {"graph": ("match",)},
    "C03": dict.fromkeys(MODES, ("match", "contract")),
    "C04a": dict.fromkeys(MODES, ("match",)) | {"xla": ("unavailable",)},
    "C04b": dict.fromkeys(MODES, ("match",)) | {"eager": ("error",)},
    "C05a": {"eager": ("mismatch",), "graph": ("stale",)},
}


def rows(tf: str = "2.21.0") -> list[Record]:
    found = [replace(r, tf=tf, spec="the-right-way") for r in synthetic.records([("claims", "x")], ["cpu"], ["plain"])]
    for claim, modes in CAME.items():
        for mode, verdicts in modes.items():
            for i, verdict in enumerate(verdicts):
                record = replace(
                    found[0], tf=tf, against=f"claim:{claim}", verdict=verdict, mode=mode, case=f"{claim.lower()}-{i}",
                    spec=claim.lower(), got="1.5", want="2.5", kind="" if verdict == "match" else "value",
                    reason="because of the derivation" if verdict == "contract" else "", worst_index="[3]",
                    mismatched=2, quantity="output[0]", input="0.25",
                )  # fmt: skip
                found.append(record)
    return found


def claim(name: str, **more: Any) -> dict[str, Any]:
    topic = {"id": name[:3], "title": f"Topic {name[:3]}", "program": "y = f(x)", "origin": "posts", "link": ""}
    base = {"id": name, "letter": name[3:], "says": f"It is {name}.", "denies": False, "plans": ["*/*"]}
    more = {"instead": "the-right-way", "refuted": {}, "spec": name.lower(), "modes": list(MODES), "files": {}} | more
    hashes = {"program": f"p-{name}", "inputs": f"i-{name}", "prediction": f"q-{name}"}
    more = {"cases": len(max(CAME.get(name, {"": "1"}).values(), key=len)), **hashes} | more
    listing = f"def program_{name}(tf, x):\n    return tf.floor(x)\n"
    return base | {"topic": topic, "listing": listing, "instead_listing": "def right(tf, x):\n    return x\n"} | more


@pytest.fixture(scope="module")
def claimed_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("claimed")
    info = synthetic.write(directory, rows())
    (directory / "claims.json").write_text(json.dumps([claim(name) for name in (*CAME, "C06")]))
    reports.write(directory, info)
    return directory


@pytest.fixture(scope="module")
def records(claimed_run: Path) -> pd.DataFrame:
    return reports.load(claimed_run)


def chapter(records: pd.DataFrame, run: Path, others: pd.DataFrame | None = None) -> dict[str, claims.ShownClaim]:
    none = pd.DataFrame(columns=list(claim_store.COLUMNS)) if others is None else others
    found = claims.chapters(records, RunInfo.load(run), load_claims(run), none)
    return {shown.id: shown for c in found for shown in c.claims}


def test_a_verdict_is_worked_out_for_each_plan_from_its_records(records: pd.DataFrame) -> None:
    found = claim_verdicts.verdicts(records).set_index(["claim", "mode"])["verdict"].to_dict()
    assert {found["C01a", mode] for mode in MODES} == {"confirmed"}
    assert (found["C02", "graph"], found["C02", "xla"]) == ("confirmed", "refuted")
    assert {found["C03", mode] for mode in MODES} == {"true only where"}
    assert (found["C04a", "xla"], found["C04b", "eager"]) == ("unavailable", "faulty")
    assert (found["C05a", "eager"], found["C05a", "graph"]) == ("refuted", "confirmed")


def test_a_claims_verdict_is_that_of_all_its_plans(records: pd.DataFrame, claimed_run: Path) -> None:
    found = {name: shown.verdict for name, shown in chapter(records, claimed_run).items()}
    assert found == {
        "C01a": "confirmed",
        "C01b": "refuted",
        "C02": "true only where",
        "C03": "true only where",
        "C04a": "confirmed",
        "C04b": "faulty",
        "C05a": "true only where",
        "C06": "not run in this run",
    }
    assert (
        chapter(records, claimed_run)["C02"].where == "confirmed: cpu/graph; refuted: cpu/eager, cpu/function, cpu/xla"
    )


@pytest.fixture(scope="module")
def older(records: pd.DataFrame, claimed_run: Path, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """The verdicts of an earlier run, which was of TensorFlow 2.9.1 and refuted C01a."""
    path = tmp_path_factory.mktemp("kept") / "new" / "claims.csv"
    before = records.assign(tf="2.9.1")
    before.loc[before["against"] == "claim:C01a", "verdict"] = "contract"
    info = replace(RunInfo.load(claimed_run), started="long ago", run="r0", machine={"processor": "a processor"})
    assert claim_store.store(before, info, load_claims(claimed_run), path) == len(claim_store.stored_verdicts(path))
    assert claim_store.store(before, info, load_claims(claimed_run), path) == len(claim_store.stored_verdicts(path))
    return claim_store.stored_verdicts(path)


def test_verdicts_of_other_runs_stand_apart_with_when_and_where_they_were_made(
    records: pd.DataFrame, claimed_run: Path, older: pd.DataFrame
) -> None:
    shown = chapter(records, claimed_run, older)["C01a"]
    assert (shown.verdict, [line.tf for line in shown.lines]) == ("confirmed", ["2.21.0"])
    (line,) = shown.stored
    assert (line.tf, line.date, line.machine) == ("2.9.1", "long ago, run r0", "a processor")
    assert [cell.verdict for cell in line.cells] == ["refuted"] * 4
    assert shown.where == ""


def test_a_claim_that_this_run_did_not_test_is_not_said_to_be_confirmed_by_it(
    records: pd.DataFrame, claimed_run: Path, older: pd.DataFrame
) -> None:
    some = records[records["spec"].isin(["c01b"]) & (records["mode"] == "graph")]
    found = chapter(some, claimed_run, older.assign(tf="2.21.0"))
    assert {name: shown.verdict for name, shown in found.items()} == {
        **dict.fromkeys([*CAME, "C06"], "not run in this run"),
        "C01b": "refuted",
    }
    assert [cell.plan for line in found["C01b"].lines for cell in line.cells] == ["cpu/graph"]
    assert [cell.plan for line in found["C01b"].stored for cell in line.cells] == [
        "cpu/eager",
        "cpu/function",
        "cpu/xla",
    ]
    assert found["C01a"].lines == []
    assert [cell.verdict for line in found["C01a"].stored for cell in line.cells] == ["refuted"] * 4


@pytest.mark.parametrize("changed", claim_store.HASHES)
def test_a_verdict_on_another_program_other_inputs_or_another_prediction_is_not_shown(
    records: pd.DataFrame, claimed_run: Path, older: pd.DataFrame, changed: str
) -> None:
    shown = chapter(records, claimed_run, older.assign(**{changed: "another"}))["C01a"]
    assert {cell.verdict for line in shown.stored for cell in line.cells} == {claim_lines.OLDER}
    told = [claim("C01a", **dict.fromkeys(claim_store.HASHES))]  # as of a run that had no hashes
    (chapter_of_it,) = claims.chapters(records, RunInfo.load(claimed_run), told, older)
    none = chapter_of_it.claims[0].stored
    assert {cell.verdict for line in none for cell in line.cells} == {claim_lines.OLDER}


def test_what_is_kept_is_whole_and_of_a_recording_only_what_it_answered(
    records: pd.DataFrame, claimed_run: Path, tmp_path: Path
) -> None:
    path, info, told = tmp_path / "claims.csv", RunInfo.load(claimed_run), load_claims(claimed_run)
    half = records[records["case"] != "c03-1"]
    claim_store.store(half, info, told, path)
    assert "C03" not in set(claim_store.stored_verdicts(path)["claim"])
    info.devices["cpu@2.9.1"] = {"recorded": "2026-01-01, run r9", "processor": "old"}
    claim_store.store(records.assign(tf="2.9.1", device="cpu@2.9.1"), info, told, path)
    recorded = claim_store.stored_verdicts(path).query("tf == '2.9.1'")
    assert set(recorded["made"] + recorded["machine"] + recorded["device"]) == {"2026-01-01, run r9oldcpu"}
    assert not (recorded["unavailable"] != "0").any()
    assert {("C04a", "eager")} < set(recorded[["claim", "mode"]].itertuples(index=False, name=None))


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    path.write_text("claim,tf\nC01a,2.21.0\n")
    with pytest.raises(ValueError, match=r"claims.csv: expected the columns claim, spec"):
        claim_store.stored_verdicts(path)


def test_a_refuted_claim_shows_the_numbers_the_reason_and_the_right_way(
    records: pd.DataFrame, claimed_run: Path
) -> None:
    shown = chapter(records, claimed_run)["C01b"]
    (row,) = shown.evidence
    assert (row["got"], row["want"], row["plans"]) == ("1.5", "2.5", [f"cpu/{m}" for m in MODES])
    assert list(shown.reasons) == ["because of the derivation"]
    assert shown.instead[0]["tested"]["records"] == 8
    assert shown.unexpected == []
    assert chapter(records, claimed_run)["C05a"].unexpected == ["cpu/eager", "cpu/graph"]


def test_a_right_way_that_fails_is_said_to_fail(records: pd.DataFrame, claimed_run: Path) -> None:
    broken = records.copy()
    broken.loc[broken["spec"] == "the-right-way", "verdict"] = "mismatch"
    shown = chapter(broken, claimed_run)["C01b"]
    assert shown.instead[0]["tested"]["failing"] == 8
    text = claims_page.html(broken, RunInfo.load(claimed_run), load_claims(claimed_run))
    assert "8 of its 8 records fail" in text


def test_there_is_a_page_and_a_link_to_it_only_where_claims_were_tested(claimed_run: Path, run: Path) -> None:
    assert 'href="claims.html"' in (claimed_run / "index.html").read_text()
    assert not (run / "claims.html").exists()
    assert 'href="claims.html"' not in (run / "index.html").read_text()


def test_hostile_texts_make_no_element_in_the_page(claimed_run: Path) -> None:
    clean = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
    info = replace(RunInfo.load(claimed_run), tf=clean[0], run=clean[1], started=clean[2])
    found = [
        replace(r, tf=clean[0], got=t, want=t, input=t, reason=t, dtype=t, recipe=t, worst_index=t, quantity=t)
        for r in rows()
        for t in clean
    ]
    text = clean[0]
    topic = dict.fromkeys(("id", "title", "program", "origin"), text) | {"link": "javascript:window.pwned=1"}
    told = [claim("C01b", says=text, listing=text, instead_listing=text, topic=topic)]
    frame = pd.DataFrame([vars(r) for r in found])
    text = claims_page.html(frame, info, told, pd.DataFrame(columns=list(claim_store.COLUMNS)))
    path = claimed_run / "hostile.html"
    path.write_text(text)
    page = Page(path)
    assert page.scripts == []
    assert not {tag for tag, _ in page.elements} & {"script", "img", "svg", "iframe"}
    assert not {name for _, attributes in page.elements for name in attributes if name.startswith("on")}
    assert all((a.get("href") or "#").startswith(("#", "index.html")) for _, a in page.elements)


@pytest.mark.browser
def test_the_page_reads_in_a_browser(browser: Browser, claimed_run: Path) -> None:
    path = claimed_run / "claims.html"
    browser.call("Page.navigate", url=path.resolve().as_uri() + "#C02")
    browser.until("document.readyState === 'complete' && !!document.querySelector('.claim')")
    assert browser.js("document.querySelectorAll('.claim').length") == len(CAME) + 1
    text = browser.js("document.querySelector('#C02-claim').innerText")
    for part in (
        "It is C02.",
        "true only where",
        "confirmed: cpu/graph",
        "because of the derivation",
        "1.5",
        "2.5",
        "def right",
        "all as promised",
    ):
        assert part in text
    assert browser.js("getComputedStyle(document.querySelector('.code .k')).color") != browser.js(
        "getComputedStyle(document.querySelector('.code')).color"
    )
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
    browser.look(width=390, height=800)
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
    assert browser.said == []
    assert {url.partition("#")[0] for url in browser.asked if not url.startswith("about:")} == {path.resolve().as_uri()}
