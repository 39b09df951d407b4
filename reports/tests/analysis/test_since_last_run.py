"""Tests of since: a run's page tells what is new in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.__main__ import main
from tf_opdiff.reports.analysis.comparisons.since_last_run import earlier
from tf_opdiff.reports.tests.planted import synthetic

ROWS = [replace(r, verdict="match", kind="", mismatched=0) for r in
        synthetic.records([("rounding", "ceil")], ["cpu"], ["edges"])]  # fmt: skip
BAD = {"verdict": "mismatch", "kind": "value", "got": "1", "want": "<b>2</b>", "mismatched": 1, "against": "numpy"}


def night(folder: Path, day: int, rows: Any = ROWS, **info: Any) -> tuple[Path, RunInfo]:
    """A run of that day with its report."""
    directory = folder / f"day-{day}"
    about = synthetic.write(
        directory, rows, **{"run": directory.name, "started": f"2031-05-{day:02}T00:00:00+00:00"} | info
    )
    reports.write(directory, about)
    return directory, about


def test_the_page_tells_what_got_worse_since_the_run_before(tmp_path: Path) -> None:
    night(tmp_path, 1)
    night(tmp_path, 2, tf="2.20.0")
    directory, _ = night(tmp_path, 3, [replace(ROWS[0], **BAD), *ROWS[1:]])
    assert "since run" not in (directory / "index.html").read_text()
    assert main([str(directory)]) == 0
    text = (directory / "index.html").read_text()
    news = text.partition("Changed records since run day-2")[2].partition("</section>")[0]
    assert "1 record got worse." in news and "match → mismatch" in news and "(2.20.0 → 2.21.0)" in news
    assert "&lt;b&gt;2&lt;/b&gt;" in news
    first = text
    assert main([str(directory)]) == 0 and (directory / "index.html").read_text() == first


@pytest.mark.parametrize(
    "other",
    [
        {"state": "interrupted"},
        {"tier": "full"},
        {"modes": ["eager"]},
        {"devices": {"gpu:0": {"asked": True}}},
        {"deselected": ["a"]},
        {"suites": "elsewhere"},
        {"started": "2031-06-01T00:00:00+00:00"},
    ],
)
def test_a_run_that_was_asked_for_something_else_or_is_not_whole_or_later_is_not_the_one_before(
    other: dict[str, Any], tmp_path: Path
) -> None:
    good, _ = night(tmp_path, 1)
    night(tmp_path, 2, **other)
    directory, about = night(tmp_path, 3)
    assert earlier(directory, about) == good


def test_a_damaged_run_before_costs_this_one_nothing_but_the_comparison(tmp_path: Path) -> None:
    damaged, _ = night(tmp_path, 1)
    (damaged / "records.parquet").write_bytes(b"nothing")
    directory, _ = night(tmp_path, 2)
    assert main([str(directory)]) == 0
    assert "The two runs can't be compared: " in (directory / "index.html").read_text()


def test_a_first_run_and_one_beside_damaged_ones_have_none_before(tmp_path: Path) -> None:
    directory, about = night(tmp_path, 3)
    assert earlier(directory, about) is None
    damaged, _ = night(tmp_path, 1)
    (damaged / "run.json").write_text("{")
    (tmp_path / "latest").symlink_to(directory)
    assert earlier(tmp_path / "latest", about) is None
