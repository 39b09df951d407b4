"""The report of a large run, which processes of their own write, is that of any other run."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from tf_opdiff import reports
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.companion import Companion
from tf_opdiff.harness.tests.conftest import Outcome
from tf_opdiff.reports.data.causes.discrepancies import of_run
from tf_opdiff.reports.tests.planted import synthetic
from tf_opdiff.reports.text.sentences.summary import terminal


def files_of(run: Path) -> dict[str, bytes]:
    """The files of a run's report."""
    paths = (path for path in run.rglob("*") if path.is_file() and "shards" not in path.parts)
    return {str(path.relative_to(run)): path.read_bytes() for path in paths}


def test_its_files_are_the_same(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = tmp_path / "large"
    shutil.copytree(run, large)
    for name in ("index.html", "records.parquet", "ops/index.html", "errors.parquet"):
        (large / name).unlink()
    monkeypatch.setattr(rundir, "LARGE", 0)
    reports.write(large, RunInfo.load(run))
    assert files_of(large) == files_of(run)


def test_a_process_that_fails_costs_no_silence(
    tmp_path: Path, rows: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    info = synthetic.write(tmp_path / "run", rows[:40])
    (tmp_path / "run" / "ops").write_text("in the way")
    monkeypatch.setattr(rundir, "LARGE", 0)
    with pytest.raises(OSError, match="its process ended with status 4"):
        reports.write(tmp_path / "run", info)


def test_the_process_of_a_whole_report_answers_with_the_summary(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    (copy / "index.html").unlink()
    info = RunInfo.load(run)
    process = Companion("tf_opdiff.reports.whole_report", copy, group=True)
    request = {"info": asdict(info), "xml": "", "suites": "tf_opdiff.suites", "known": "suites/known"}
    process.ask(json.dumps(request).encode())
    records = reports.load(run)
    assert json.loads(process.answer()) == terminal(records, info, of_run(copy, records), copy)
    assert files_of(copy) == files_of(run)


def test_pytest_lets_a_process_write_it(run_pytest, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    small: Outcome = run_pytest("--op", "one-ulp-off", "--mode", "eager", "--repro", "none")
    large: Outcome = run_pytest(
        *(
            "--op",
            "one-ulp-off",
            "--mode",
            "eager",
            "--repro",
            "none",
            "-p",
            "tf_opdiff.harness.tests.planted_runs.large_runs",
        ),
        env={"TMPDIR": str(tmp_path), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")},
    )
    assert "tf-opdiff run" in (tmp_path / "summary.md").read_text()
    assert "pandas is imported: False" in large.output, "its memory would be that of the pytest process"
    assert small.status == large.status == 1
    lines = [
        [line for line in one.output.splitlines() if "one-ulp-off" in line or "record" in line]
        for one in (small, large)
    ]
    assert len(lines[0]) == len(lines[1]) > 2
    assert {*files_of(small.directory)} - {*files_of(large.directory)} <= {
        path for path in files_of(small.directory) if "logs" in path
    }
    assert "mismatch" in (large.directory / "summary.md").read_text() and (large.directory / "index.html").exists()
