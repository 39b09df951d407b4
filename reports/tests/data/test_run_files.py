"""The list of a run's files names every file that a run leaves."""

from pathlib import Path

from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.reports.pages.run_pages.extra_pages import run_files


def test_every_file_of_a_run_is_listed(run: Path) -> None:
    assert {path.name for path in run.iterdir()} <= run_files().keys()


def test_every_file_that_the_harness_writes_is_listed() -> None:
    assert {name for name in rundir.OWN if not name.endswith(".tmp")} <= run_files().keys()
