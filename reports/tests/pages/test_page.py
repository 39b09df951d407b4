"""Tests of page, embed and write, without a browser."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.__main__ import main
from tf_opdiff.reports.data.run_data import files
from tf_opdiff.reports.pages import embed
from tf_opdiff.reports.pages.page_data import commands
from tf_opdiff.reports.pages.run_pages import run_page
from tf_opdiff.reports.tests.planted import synthetic


class Page(HTMLParser):
    """The elements and attributes of a page, and the text of its scripts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._script = False
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._script = False

    def handle_data(self, data: str) -> None:
        if self._script:
            self.scripts.append(data)


def test_hostile_texts_make_no_element_no_handler_and_no_script(run: Path, hostile_run: Path) -> None:
    ordinary, hostile = Page(run / "index.html"), Page(hostile_run / "index.html")
    assert len(hostile.scripts) == len(ordinary.scripts) == 3
    assert hostile.scripts[1:] == ordinary.scripts[1:]
    assert {tag for tag, _ in hostile.elements} <= {tag for tag, _ in ordinary.elements} | {
        "details",
        "code",
        "section",
    }
    assert not {tag for tag, _ in hostile.elements} & {"img", "svg", "iframe"}
    names = {name for _, attributes in hostile.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")} and "src" not in names
    for _, attributes in hostile.elements:
        assert re.match(r"#|(ops/)?[A-Za-z0-9-]+\.html(#is-[A-Za-z0-9%.-]+)?$", attributes.get("href") or "#")


def test_the_page_asks_for_nothing_and_its_policy_allows_its_own_scripts_only(run: Path) -> None:
    page = Page(run / "index.html")
    policy = next(a["content"] for tag, a in page.elements if tag == "meta" and a.get("http-equiv"))
    assert policy is not None and policy.startswith("default-src 'none'")
    _, library, own = page.scripts
    admitted = gzip.decompress(base64.b64decode(library)), own.encode()
    hashes = [base64.b64encode(hashlib.sha256(text).digest()).decode() for text in admitted]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    assert not [tag for tag, a in page.elements if tag == "link" or a.get("src")]


def test_embedded_columns_decode_to_the_same_values() -> None:
    frame = pd.DataFrame(
        {
            "const": ["x"] * 4,
            "few": ["a", "b", "a", "b"],
            "all": ["1", "2", "3", "4"],
            "float": [1.5, float("nan"), float("inf"), float("-inf")],
            "int": [1, 2, 3, 4],
        }
    )
    text, _, codes = gzip.decompress(base64.b64decode(embed.encode(frame, more=1))).partition(b"\n")
    data = json.loads(text)
    assert (data["n"], data["more"]) == (4, 1)
    assert data["columns"]["const"] == {"const": "x"}
    assert data["columns"]["few"] == {"values": ["a", "b"], "width": 1}
    assert codes == bytes([0, 1, 0, 1])
    assert data["columns"]["all"] == {"list": ["1", "2", "3", "4"]}
    assert data["columns"]["float"] == {"list": [1.5, "NaN", "inf", "-inf"]}
    assert data["columns"]["int"] == {"list": [1, 2, 3, 4]}


@pytest.mark.parametrize(("values", "width"), [(256, 1), (257, 2), (65_536, 2), (65_537, 4)])
def test_embedded_codes_are_as_wide_as_their_number_asks(values: int, width: int) -> None:
    column = [f"v{i}" for i in range(values)] * 2
    text, _, codes = gzip.decompress(base64.b64decode(embed.encode(pd.DataFrame({"c": column})))).partition(b"\n")
    found = json.loads(text)["columns"]["c"]
    assert found["width"] == width
    assert [found["values"][i] for i in np.frombuffer(codes, f"<u{width}")] == column


def test_writing_again_gives_the_same_files(tmp_path: Path) -> None:
    info = synthetic.write(tmp_path, synthetic.records(synthetic.ops(6), ["cpu"], ["edges"]), observed=True)

    def content() -> dict[str, bytes]:
        reports.write(tmp_path, info)
        return {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}

    first = content()
    assert first == content()
    assert set(first) == {
        *("run.json", "records.parquet", "observations.parquet", "index.html", "summary.md"),
        *("discrepancies.html", "discrepancies.csv", "search.html"),
        *("badge.svg", "badge.json", "errors.parquet", "error_histogram.parquet"),
    }


def test_the_report_of_what_is_no_run_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nowhere")]) == main([]) == 4
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"python -m reports: {tmp_path / 'nowhere'} is not the directory of a run: it has no run.json"
    (tmp_path / "run.json").write_text("{")
    assert main([str(tmp_path)]) == 4
    assert "run.json: expected JSON" in capsys.readouterr().err


def test_a_damaged_parquet_is_written_anew_from_the_shards(tmp_path: Path) -> None:
    info = synthetic.write(tmp_path, synthetic.records(synthetic.ops(2), ["cpu"], ["edges"]))
    (tmp_path / "records.parquet").write_bytes(b"nothing")
    reports.write(tmp_path, info)
    assert len(reports.load(tmp_path)) == 16


def test_a_file_that_cannot_be_filled_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_text("old")

    def fail(_file: object) -> None:
        raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        files.replace(path, fail)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_the_page_names_what_did_not_run_and_why(tmp_path: Path) -> None:
    rows = synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])
    lost = [{"case": "ceil-float32-bits", "device": "cpu", "mode": "xla", "why": "never started"}]
    info = synthetic.write(
        tmp_path, rows, planned=5, not_run=lost, deselected=["rounding.rint-float32"], state="interrupted"
    )
    reports.write(tmp_path, info)
    text = (tmp_path / "index.html").read_text()
    for said in (
        "This run is partial",
        "never started",
        "ceil-float32-bits",
        "rounding.rint-float32",
        "it was interrupted",
    ):
        assert said in text
    assert "requested, but nothing ran there" in text and "not requested, not run" in text


def test_a_stale_entry_is_told_with_what_to_delete(run: Path) -> None:
    findings = (run / "index.html").read_text().partition('<h2 id="failing">')[2].partition("</section>")[0]
    assert "delete or narrow entry 3 of known/math.toml" in findings


def test_a_whole_run_has_no_banner(run: Path) -> None:
    assert "This run is partial" not in (run / "index.html").read_text()
    assert RunInfo.load(run).state == "complete"


def test_ten_thousand_records_make_a_page_below_two_megabytes(tmp_path: Path) -> None:
    rows = synthetic.records(synthetic.ops(125), ["cpu", "gpu:0"], ["edges", "bits", "plain", "halves", "subnormals"])
    reports.write(tmp_path, synthetic.write(tmp_path, rows))
    assert len(rows) == 10000
    assert (tmp_path / "index.html").stat().st_size < 2e6


def test_entries_of_known_failures_stand_under_their_cause(run: Path) -> None:
    shared = {"kind": "nan", "owner": "us", "source": "", "measured": "", "records": 1, "cases": 1, "plans": "cpu/xla"}
    shared |= {"see": ""}
    rows = [
        ("b-cause", "known/nn.toml", 1, "stale", "the <b>reason", "https://example.org/1"),
        ("a-cause", "known/math.toml", 1, "holds", "another reason", ""),
        ("b-cause", "known/math.toml", 2, "holds", "the <b>reason", "https://example.org/1"),
        ("c-cause", "known/math.toml", 3, "not run", "a third reason", ""),
    ]
    names = ("cause", "file", "entry", "state", "reason", "link")
    table = pd.DataFrame([{**dict(zip(names, row, strict=True)), **shared, "spec": "x", "since": ""} for row in rows])
    table.loc[1, "measured"] = "every float32 on x86-64"
    table.loc[[0, 2], "see"] = "a-cause c-cause"
    page = run_page.html(reports.load(run), RunInfo.load(run), run_page.Supplement(entries=table))
    text = page[page.index('id="entries"') : page.index("Devices, and cells that did not run")]
    words = ["3 entries select", "a-cause", "every float32", "known/math.toml 1", "b-cause", "the &lt;b&gt;reason"]
    words += ["https://example.org/1", "known/nn.toml 1", "known/math.toml 2"]
    assert [text.index(word) for word in words] == sorted(text.index(word) for word in words)
    assert text.count("the &lt;b&gt;reason") == 1
    assert 'See also: <a href="#cause-a-cause">a-cause</a>, c-cause</p>' in text and 'id="cause-a-cause"' in text
    assert text.count("c-cause") == text.count("See also") == 1


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("pytest suites --case a-b --device cpu --mode xla", "~pytest suites --case {case} --device cpu --mode xla"),
        ("pytest suites --case a-b-c", "~pytest suites --case {case}-c"),
        ("echo {case} a-b", "=echo {case} a-b"),
        ("python -m harness sweep a", "=python -m harness sweep a"),
        ("", "="),
    ],
)
def test_a_command_keeps_its_case_in_one_place(command: str, text: str) -> None:
    frame = pd.DataFrame({"rerun": [command, "other"], "case": ["a-b", "a-b"]})
    assert commands(frame).astype(str).tolist() == [text, "=other"]
