"""Since last run: the changes of a run since the comparable run before it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.claim_tables.claim_verdicts import changed, verdicts
from tf_opdiff.reports.analysis.comparisons import changelog
from tf_opdiff.reports.analysis.comparisons.changes import diff
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import run_environment
from tf_opdiff.reports.data.run_data.load import RECORDS


def earlier(directory: Path, info: RunInfo) -> Path | None:
    """The newest whole run in the same folder that began earlier and had the same request; None if there is none.

    The same request: suites, tier, modes, devices, and as many items left out. TensorFlow and the machine may differ.
    """
    candidates = []
    for path in directory.resolve().parent.iterdir():
        if path.is_symlink() or path == directory.resolve() or not (path / RECORDS).is_file():
            continue
        try:
            other = run_environment.info(path)
        except (OSError, ValueError):
            continue
        if other.state == "complete" and other.started < info.started and _request(other) == _request(info):
            candidates.append((other.started, path))
    return max(candidates)[1] if candidates else None


def _request(info: RunInfo) -> tuple[object, ...]:
    devices = sorted(name for name, about in info.devices.items() if run_environment.requested(about))
    return info.suites, info.tier, info.modes, devices, len(info.deselected)


def since(before: Path, old: pd.DataFrame, records: pd.DataFrame, info: RunInfo) -> changelog.Changelog:
    """The changelog of a run since the one in the directory `before`, whose records are `old`.

    Raises:
      FileNotFoundError: `before` is not the directory of a run.
      ValueError: its run.json is damaged.
    """
    old_info = run_environment.info(before)
    changes = diff(old, records, not_run=tables.not_run(info))
    claims = changed(verdicts(old), verdicts(records))
    return changelog.changelog(changes, old, records, (old_info, info), claims=claims)
