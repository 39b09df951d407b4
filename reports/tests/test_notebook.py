"""A run in a notebook: ranked findings, records with pandas' own types, and the first screen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tf_opdiff import reports
from tf_opdiff.harness.judge.verdicts.severity import SEVERITIES
from tf_opdiff.harness.store.records.record import COLUMNS
from tf_opdiff.reports.tests.planted import synthetic


def test_findings_are_ranked_by_severity_and_say_what_is_missing(run: Path) -> None:
    table = reports.findings(run)
    assert table.index.tolist() == list(range(1, len(table) + 1))
    failing = table[table["verdict"] == "mismatch"]
    assert failing["severity"].cat.categories.tolist() == list(SEVERITIES)
    assert failing["severity"].dropna().is_monotonic_increasing
    assert failing["title"].iloc[0].startswith("assert_before crashes")
    assert failing["owner"].isna().all() and failing["link"].isna().all()
    assert not (table[table["verdict"] == "known"]["owner"]).isna().any()
    assert set(map(type, table["plans"])) == {tuple}


def test_records_have_dates_and_missing_values(run: Path) -> None:
    table, plain = reports.records(run), reports.load(run)
    assert tuple(table.columns) == COLUMNS and len(table) == len(plain)
    assert table["started"].dt.tz is not None and table["started"].iloc[0].year == 2031
    for name in ("kind", "owner", "detail", "worst_index"):
        assert table[name].isna().tolist() == (plain[name].astype("str") == "").tolist()
    assert table["max_ulp"].isna().tolist() == plain["max_ulp"].isna().tolist()
    assert table["verdict"].astype("str").tolist() == plain["verdict"].astype("str").tolist()


def test_a_run_shows_its_first_screen(run: Path) -> None:
    shown = reports.run(run)
    for text in (repr(shown), shown._repr_html_()):
        assert "Tested: " in text and "assert_before crashes" in text
    assert shown.findings.equals(reports.findings(run))


def test_no_text_of_a_run_becomes_markup(hostile_run: Path) -> None:
    html = reports.run(hostile_run)._repr_html_()
    assert "<script" not in html and "<img" not in html and "<svg" not in html


def test_a_run_without_records_can_be_shown(tmp_path: Path) -> None:
    reports.write(tmp_path, synthetic.write(tmp_path, []))
    assert len(reports.findings(tmp_path)) == len(reports.records(tmp_path)) == 0
    assert isinstance(reports.run(tmp_path)._repr_html_(), str)


def test_a_start_that_is_no_time_is_missing(tmp_path: Path) -> None:
    row = replace(synthetic.records([("s", "op")], ["cpu"], ["edges"])[0], started="some day")
    reports.write(tmp_path, synthetic.write(tmp_path, [row]))
    assert reports.records(tmp_path)["started"].isna().all()


def test_a_folder_that_does_not_exist_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="nowhere: expected the directory of a run"):
        reports.run("nowhere")


def test_types_survive_pandas_operations(run: Path) -> None:
    table = reports.records(run)
    largest = table.groupby("spec", observed=True)["max_ulp"].max()
    assert isinstance(largest.dtype, pd.Float64Dtype)
