"""Whatever a record, a point or a text holds, every page and file is written, and can be read."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import math
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest

from tf_opdiff import reports
from tf_opdiff.command_line import main
from tf_opdiff.harness.judge.differences.error_points import points
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.store.records.record import VERDICTS, Record
from tf_opdiff.harness.sweep import plot
from tf_opdiff.harness.sweep.measurements.tally import Tally
from tf_opdiff.reports.data.figures.tables import NAMED, make
from tf_opdiff.reports.data.run_data import frame
from tf_opdiff.reports.pages import embed
from tf_opdiff.reports.tests.analysis.test_claims import claim
from tf_opdiff.reports.tests.pages.test_page import Page
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.formats import FORMATS

FLOATS = (math.nan, math.inf, -math.inf, -0.0, 0.0, float(np.finfo("f8").max), -float(np.finfo("f8").max), 5e-324)
INTEGERS = (0, 1, 2**63 - 1)
HOSTILE = "\x00\x1b[31m\ud800\u202e\u2028</script>]]>"
TEXTS = ("", " ", HOSTILE, "=1+1|`#", "nan", "[" + "9" * 5000 + "]", "[7]", "é" * 3000)
VALUES: dict[str, tuple[Any, ...]] = {"float": FLOATS, "int": INTEGERS, "str": TEXTS}
FIXED = ("verdict", "kind", "kinds")


def rows() -> Iterator[Record]:
    """A record for each verdict, column and value, and each claim's verdict with such values."""
    base = replace(
        synthetic.records([("rounding", "floor")], ["cpu"], ["edges"])[0], kind="value", worst_index="[3]", mismatched=2
    )
    made = [
        (verdict, {field.name: value})
        for verdict in VERDICTS
        for field in fields(Record)
        if field.name not in FIXED
        for value in VALUES[str(field.type)]
    ]
    for number, (verdict, odd) in enumerate(made):
        kind = "" if verdict == "match" else "value"
        row = replace(base, verdict=verdict, kind=kind, case=f"case-{number}", **({} if "case" in odd else odd))
        yield replace(row, **odd)
        if {"against", "spec"}.isdisjoint(odd) and verdict in ("match", "contract", "mismatch"):
            yield replace(row, **({"spec": "c01"} | odd), against="claim:C01")


def of(page: Path) -> dict[str, Any]:
    """What a page has embedded, read as a browser reads it: by the letter of JSON."""
    text = gzip.decompress(base64.b64decode(Page(page).scripts[0])).partition(b"\n")[0]
    return strict(text.decode())


def strict(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture(scope="module")
def odd_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with every value in every column, the second one in another order, each with its report."""
    folder = tmp_path_factory.mktemp("odd")
    every = list(rows())
    drawn = [[*FLOATS], [*reversed(FLOATS)]]
    place = {name: getattr(every[0], name) for name in ("suite", "spec", "verdict", "kind", "case", "device", "mode")}
    outcomes = [
        {
            **place,
            "against": "numpy",
            "quantity": "output[0]",
            "status": status,
            "script": "",
            "output": text,
            "points": p,
        }
        for status in ("reproduced", "failed")
        for text in ("", "x\x00\x1b")
        for p in (drawn, [], [[1.0], []], [[]])
    ]
    for name in ("a", "b"):
        run = folder / name
        started = "2031-05-04T03:02:01+00:00" if name == "a" else "2031-05-05T03:02:01+00:00"
        info = synthetic.write(run, every, observed=True, run=name, started=started)
        (run / "repro.json").write_text(json.dumps(outcomes))
        (run / "claims.json").write_text(json.dumps([claim("C01")]))
        (run / "junit.xml").write_text('<testsuites><testsuite tests="0" errors="0"/></testsuites>')
        reports.write(run, info, before=folder / "a" if name == "b" else None)
        every = [replace(row, **{f.name: getattr(other, f.name) for f in fields(Record) if f.type in ("float", "int")})
                 for row, other in zip(every, [*every[7:], *every[:7]], strict=True)]  # fmt: skip
    one = [replace(row, tf="2.21.0") for row in rows()]  # what suggests entries takes one version
    synthetic.write(folder / "one", one, run="one")
    return folder


def test_every_file_of_a_report_is_written_and_parses_whatever_its_records_hold(odd_run: Path) -> None:
    for run in (odd_run / "a", odd_run / "b"):
        data = of(run / "index.html")
        assert data["n"] == len(list(rows())) == len(reports.load(run))
        assert set(data["columns"]["max_ulp"]["values"]) >= {"NaN", "inf", "-inf", 5e-324}
        assert all(math.isfinite(v) for program in data["programs"] for side in program["points"] for v in side)
        assert Page(run / "claims.html").elements
        for name in ("badge.svg", "junit.xml"):
            ElementTree.parse(run / name)
        strict((run / "badge.json").read_text())
        assert (run / "summary.md").read_text().startswith("**")
        pq.read_table(run / "records.parquet")
        assert len(reports.load_observations(run))


def test_every_value_comes_back_from_the_shards_and_from_parquet(odd_run: Path) -> None:
    loaded = reports.load(odd_run / "a")
    shards = frame.records(odd_run / "a")
    for field in fields(Record):
        wanted = {repr(getattr(row, field.name)) for row in rows()} if field.type != "str" else set()
        for table in (loaded, shards):
            assert not wanted or {repr(v) for v in table[field.name].tolist()} == wanted


@pytest.mark.parametrize(
    "words",
    [
        ("diff", "{}/a", "{}/b", "--bits", "--html={}/diff.html", "--markdown={}/diff.md"),
        ("history", "{}", "--html={}/history.html", "--markdown={}/history.md"),
        ("claims", "{}/a"),
        ("suggest", "{}/one"),
        ("issues", "{}/a", "--issues={}/issues.json"),
    ],
    ids=lambda words: words[0],
)
def test_every_view_of_a_run_is_written_whatever_its_records_hold(
    odd_run: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    (odd_run / "issues.json").write_text("[]")
    assert main([word.format(odd_run) for word in words]) in (0, 1), capsys.readouterr().err
    pages = {"diff": "diff.html", "history": "history.html"}
    if words[0] in pages:
        assert Page(odd_run / pages[words[0]]).elements
    if words[0] == "issues":
        assert strict(capsys.readouterr().out)


@pytest.mark.parametrize("name", NAMED)
def test_every_table_is_written_in_every_format_whatever_the_records_hold(odd_run: Path, name: str) -> None:
    table = make(name, reports.load(odd_run / "a"))
    for form, write in FORMATS.items():
        text = write(table)
        if form == "csv":
            assert len(list(csv.reader(io.StringIO(text)))) == len(table) + 1


def test_a_sweep_is_written_whatever_its_tallies_hold() -> None:
    made = []
    for value in FLOATS:
        tally = Tally(size=2**63, mismatched=1, max_ulp=value, max_abs=value, histogram=[0, 2**62], message=HOSTILE)
        tally.worst = [["value", value, 7, "nan", HOSTILE]]
        back = Tally.from_json(json.loads(embed.json_of(tally.to_json())))
        assert repr(back.max_ulp) == repr(tally.max_ulp)
        place = {"case": "</text>&<", "device": "cpu", "mode": "xla", "quantity": "output[0]"}
        made.append({**place, **tally.to_json()})
    strict(embed.json_of(made))
    ElementTree.fromstring(plot.svg(made))


def test_a_gradient_off_where_nothing_is_promised_has_finite_points_and_a_page(tmp_path: Path) -> None:
    x = np.linspace(1, 2, 6)
    got = np.array([0.0, 9e-16, 1e300, 5e-324, -1.0, np.finfo("f8").max])
    drawn, _ = points(x, got, Want("value", np.zeros(6), np.dtype("float64")))
    assert np.isfinite(drawn).all() and drawn[1][0] == 0 and drawn[1][3] == 1
    strict(json.dumps(drawn))
