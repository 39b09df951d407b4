"""Tests of the claims' verdicts and of their page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.run.sessions.without_onednn import ONLY
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.tests.planted_specs import planted_claims
from tf_opdiff.reports.analysis.claim_tables import claim_lines, claim_store, claim_verdicts, claims
from tf_opdiff.reports.data.run_data.load import load_claims
from tf_opdiff.reports.pages.run_pages import claims_page
from tf_opdiff.reports.tests.conftest import HOSTILE
from tf_opdiff.reports.tests.packed import whole
from tf_opdiff.reports.tests.pages.test_page import Page
from tf_opdiff.reports.tests.planted import synthetic

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


NONE = pd.DataFrame(columns=list(claim_store.COLUMNS))
TEXTS = ("says", "post", "today", "instead", "paste")


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
    none = NONE if others is None else others
    found = claims.chapters(records, RunInfo.load(run), load_claims(run), none)
    return {shown.id: shown for c in found for shown in c.claims}


def test_a_verdict_is_worked_out_for_each_plan_from_its_records(records: pd.DataFrame) -> None:
    found = claim_verdicts.verdicts(records).set_index(["claim", "mode"])["verdict"].to_dict()
    assert {found["C01a", mode] for mode in MODES} == {"confirmed"}
    assert (found["C02", "graph"], found["C02", "xla"]) == ("confirmed", "refuted")
    assert {found["C03", mode] for mode in MODES} == {"true only where"}
    assert (found["C04a", "xla"], found["C04b", "eager"]) == ("unavailable", "faulty")
    assert (found["C05a", "eager"], found["C05a", "graph"]) == ("refuted", "confirmed")


def test_a_claims_word_is_that_of_all_its_plans(records: pd.DataFrame, claimed_run: Path) -> None:
    words = {name: (shown.word, shown.label) for name, shown in chapter(records, claimed_run).items()}
    assert words == {
        "C01a": ("confirmed",) * 2,
        "C01b": ("false",) * 2,
        "C02": ("true in this mode only", "true in graph only"),
        "C03": ("true in some cases only",) * 2,
        "C04a": ("confirmed",) * 2,
        "C04b": ("faulty",) * 2,
        "C05a": ("true in this mode only", "true in graph only"),
        "C06": ("not run in this run",) * 2,
    }
    assert chapter(records, claimed_run)["C02"].where == "confirmed: cpu/graph; false: cpu/eager, cpu/function, cpu/xla"


def test_the_pages_of_ops_use_the_words_of_the_page_of_claims(records: pd.DataFrame, claimed_run: Path) -> None:
    text = "".join(whole(page.read_text()) for page in (claimed_run / "ops").glob("*.html"))
    labels = dict(re.findall(r"</span> ([^<]+)</span>\s*<a href=\"../claims.html#[^\"]*\">(\w+)</a>", text))
    shown = chapter(records, claimed_run)
    assert {claim: label for label, claim in labels.items()} == {
        shown[claim].id: shown[claim].label for claim in labels.values()
    }
    assert labels["true in graph only"] in ("C02", "C05a")


def test_a_claim_that_an_older_version_bore_out_was_true_then(
    records: pd.DataFrame, claimed_run: Path, older: pd.DataFrame
) -> None:
    refuted = records.copy()
    refuted.loc[refuted["against"] == "claim:C04b", "verdict"] = "contract"
    before = older[older["claim"] == "C04b"]
    assert set(before["mode"]) == {"function", "graph", "xla"} and set(before["verdict"]) == {"confirmed"}
    shown = chapter(refuted, claimed_run, older)["C04b"]
    assert {cell.plan: cell.word for cell in shown.lines[0].cells} == dict.fromkeys(
        ("cpu/function", "cpu/xla", "cpu/graph"), "true then, not now"
    ) | {"cpu/eager": "false"}
    newer = older.assign(tf="3.0.0")
    assert chapter(refuted, claimed_run, newer)["C04b"].word == "false"
    changed = older.assign(program="another")
    assert chapter(refuted, claimed_run, changed)["C04b"].word == "false"
    only = refuted[(refuted["against"] != "claim:C04b") | (refuted["mode"] != "eager")]
    assert chapter(only, claimed_run, older)["C04b"].word == "true then, not now"


def test_a_claim_cannot_be_expressed_where_xla_refuses_or_no_program_has_the_mode(
    records: pd.DataFrame, claimed_run: Path
) -> None:
    in_xla = (records["against"] == "claim:C02") & (records["mode"] == "xla")
    refused = records.copy()
    refused["got"] = refused["got"].astype("object")
    refused.loc[in_xla, ["kind", "got"]] = ["status", "error INVALID_ARGUMENT"]
    told = [claim("C02", modes=["eager", "graph", "xla"])]
    (of_topic,) = claims.chapters(refused, RunInfo.load(claimed_run), told, NONE)
    assert [(cell.plan, cell.word) for cell in of_topic.claims[0].lines[0].cells] == [
        ("cpu/eager", "false"),
        ("cpu/function", "false"),
        ("cpu/xla", "cannot be expressed there"),
        ("cpu/graph", "confirmed"),
    ]
    without = refused[(refused["against"] != "claim:C02") | (refused["mode"] != "function")]
    (of_topic,) = claims.chapters(without, RunInfo.load(claimed_run), told, NONE)
    assert of_topic.claims[0].lines[0].cells[1].word == "cannot be expressed there"
    other_error = refused.assign(got=refused["got"].replace("error INVALID_ARGUMENT", "error KeyError"))
    (of_topic,) = claims.chapters(other_error, RunInfo.load(claimed_run), told, NONE)
    assert of_topic.claims[0].lines[0].cells[2].word == "false"


def test_a_claim_can_state_a_word_for_plans_that_refute_it(records: pd.DataFrame, claimed_run: Path) -> None:
    told = [claim("C02", refuted={"*/graph": "so", "*/*": "why"}, words={"*/*": "true then, not now"})]
    (of_topic,) = claims.chapters(records, RunInfo.load(claimed_run), told, NONE)
    words = {cell.plan: cell.word for cell in of_topic.claims[0].lines[0].cells}
    assert words == dict.fromkeys(("cpu/eager", "cpu/function", "cpu/xla"), "true then, not now") | {
        "cpu/graph": "confirmed"
    }
    with pytest.raises(ValueError, match="words: expected a pattern of refuted"):
        planted_claims.claim("a", words={"*/*": "true then, not now"})


def test_an_expectation_is_not_stated_as_the_result_of_a_run_that_did_not_bear_it_out(
    records: pd.DataFrame, claimed_run: Path
) -> None:
    info, told = RunInfo.load(claimed_run), [claim("C05a", modes=["eager", "graph"]), claim("C01a"), claim("C02")]
    for one in told:
        one["topic"] |= {"today": f"It is so with {one['id']}."}

    def today(some: pd.DataFrame) -> str:
        return " ".join(claims_page.html(some, info, told, NONE).split())

    assert "<dd>It is so with C01a. <small>" in today(records)
    assert 'another verdict than expected on <a href="#C05a">C05a</a>. Expected was: It is so with C05a.' in today(
        records
    )
    assert "only a part of it. Expected is: It is so with C01a." in today(records[records["mode"] != "xla"])
    assert "did not test it. Expected is: It is so with C01a." in today(records[records["spec"] != "c01a"])


def test_a_device_that_runs_some_ops_only_leaves_no_claim_untested(records: pd.DataFrame, claimed_run: Path) -> None:
    told = [claim("C01a"), claim("C02")]
    rows_of_c02 = records[(records["against"] == "claim:C02") & (records["mode"] != "xla")]
    both = pd.concat([records, rows_of_c02.assign(device="cpu+noonednn")], ignore_index=True)
    info = RunInfo.load(claimed_run)

    def untested(about: dict[str, Any]) -> list[list[str]]:
        devices = {**info.devices, "cpu+noonednn": about}
        return [one.untested for one in claims.chapters(both, replace(info, devices=devices), told, NONE)]

    assert untested({"asked": True, **ONLY}) == [[], []]
    assert untested({"asked": True}) == [["C01a"], ["C02"]]  # a user who requests the device requests all specs
    without = both[(both["against"] != "claim:C01a") | (both["mode"] != "graph")]
    devices = {**info.devices, "cpu+noonednn": {"asked": True, **ONLY}}
    (first, second) = claims.chapters(without, replace(info, devices=devices), told, NONE)
    assert (first.untested, second.untested) == (["C01a"], [])


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
    assert (shown.word, [line.tf for line in shown.lines]) == ("confirmed", ["2.21.0"])
    (line,) = shown.stored
    assert (line.tf, line.date, line.machine) == ("2.9.1", "long ago, run r0", "a processor")
    assert [cell.word for cell in line.cells] == ["false"] * 4
    assert shown.where == ""


def test_a_claim_that_this_run_did_not_test_is_not_said_to_be_confirmed_by_it(
    records: pd.DataFrame, claimed_run: Path, older: pd.DataFrame
) -> None:
    some = records[records["spec"].isin(["c01b"]) & (records["mode"] == "graph")]
    found = chapter(some, claimed_run, older.assign(tf="2.21.0"))
    assert {name: shown.word for name, shown in found.items()} == {
        **dict.fromkeys([*CAME, "C06"], "not run in this run"),
        "C01b": "false",
    }
    assert [cell.plan for line in found["C01b"].lines for cell in line.cells] == ["cpu/graph"]
    assert [cell.plan for line in found["C01b"].stored for cell in line.cells] == [
        "cpu/eager",
        "cpu/function",
        "cpu/xla",
    ]
    assert found["C01a"].lines == []
    assert [cell.word for line in found["C01a"].stored for cell in line.cells] == ["false"] * 4


@pytest.mark.parametrize("changed", claim_store.HASHES)
def test_a_verdict_on_another_program_other_inputs_or_another_prediction_is_not_shown(
    records: pd.DataFrame, claimed_run: Path, older: pd.DataFrame, changed: str
) -> None:
    shown = chapter(records, claimed_run, older.assign(**{changed: "another"}))["C01a"]
    assert {cell.word for line in shown.stored for cell in line.cells} == {claim_lines.OLDER}
    told = [claim("C01a", **dict.fromkeys(claim_store.HASHES))]  # as of a run that had no hashes
    (chapter_of_it,) = claims.chapters(records, RunInfo.load(claimed_run), told, older)
    none = chapter_of_it.claims[0].stored
    assert {cell.word for line in none for cell in line.cells} == {claim_lines.OLDER}


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
    topic = dict.fromkeys(("id", "title", "program", "origin", *TEXTS), text) | {"link": "javascript:window.pwned=1"}
    told = [claim("C01b", says=text, listing=text, instead_listing=text, topic=topic, parameters=[text])]
    frame = pd.DataFrame([vars(r) for r in found])
    text = claims_page.html(frame, info, told, NONE)
    path = claimed_run / "hostile.html"
    path.write_text(text)
    page = Page(path)
    assert page.scripts == Page(claimed_run / "claims.html").scripts and len(page.scripts) == 1
    assert not {tag for tag, _ in page.elements} & {"img", "svg", "iframe"}
    assert not {name for _, attributes in page.elements for name in attributes if name.startswith("on")}
    own = {a.get("href") for _, a in Page(claimed_run / "claims.html").elements}
    assert not {href for _, a in page.elements if not (href := a.get("href") or "#").startswith("#")} - own
