"""Work for a report is done before the run, while TensorFlow is imported."""

from pathlib import Path

import pytest

import conftest
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.store.run_directories.judges import OURS
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.known_failures import ledger
from tf_opdiff.reports.data.run_data.load import load
from tf_opdiff.reports.pages.template import environment
from tf_opdiff.reports.whole_report import summarised
from tf_opdiff.reports.write import Report


def test_a_report_compiles_no_template_after_the_warm_up(run: Path) -> None:
    environment.cache_clear()
    conftest.pytest_opdiff_waiting(conftest.FEW + 1)
    assert not environment().cache
    conftest.pytest_opdiff_waiting(conftest.FEW)
    before = set(environment().cache or ())
    with Report(run) as report:
        lines = summarised(report, RunInfo.load(run), xml=None, judged_by=OURS, known=Known())
    assert lines[-1].startswith("report: ")
    assert before
    assert set(environment().cache or ()) == before


def test_known_failures_that_are_read_already_are_not_read_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_files, "load", lambda *_: pytest.fail("read again"))
    info = RunInfo.load(run)
    info.known = OURS.known
    assert ledger.of_run(load(run), info, OURS, Known()).empty
