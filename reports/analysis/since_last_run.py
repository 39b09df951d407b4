"""Since: what changed in a run since the one before it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.analysis import causes, changelog
from tf_opdiff.reports.analysis.changes import diff
from tf_opdiff.reports.analysis.claim_verdicts import verdicts
from tf_opdiff.reports.data import run_environment, tables
from tf_opdiff.reports.data.load import RECORDS, load


def earlier(directory: Path, info: RunInfo) -> Path | None:
    """The newest whole run in the same folder that was asked for the same, and began before; None where there is none.

    The same: suites, tier, modes, devices, and as many items left out. TensorFlow and the machine may be others.
    """
    found = []
    for path in directory.resolve().parent.iterdir():
        if path.is_symlink() or path == directory.resolve() or not (path / RECORDS).is_file():
            continue
        try:
            other = run_environment.info(path)
        except (OSError, ValueError):
            continue
        if other.state == "complete" and other.started < info.started and _asked(other) == _asked(info):
            found.append((other.started, path))
    return max(found)[1] if found else None


def _asked(info: RunInfo) -> tuple[object, ...]:
    devices = sorted(name for name, about in info.devices.items() if about.get("asked"))
    return info.suites, info.tier, info.modes, devices, len(info.deselected)


def since(before: Path, records: pd.DataFrame, info: RunInfo) -> changelog.Changelog:
    """What is told of a run beside the one in the directory `before`.

    Raises:
      FileNotFoundError: `before` is not the directory of a run.
      ValueError: a file of it is damaged.
    """
    old, about = load(before), run_environment.info(before)
    changes = diff(old, records, not_run=tables.not_run(info))
    claims = causes.claims(verdicts(old), verdicts(records))
    return changelog.changelog(changes, old, records, (about, info), claims=claims)
