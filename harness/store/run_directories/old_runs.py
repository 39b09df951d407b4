"""Old runs: removes the directories of ended runs from a folder of runs, and leaves the newest few."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tf_opdiff.harness.store.run_directories.run_info import RunInfo

#: The name of a directory that a run was given by `rundir.fresh`.
_NAME = re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}")


def remove(folder: Path, keep: int) -> list[Path]:
    """Removes the oldest whole runs of a folder, until `keep` whole runs are left; returns the removed directories.

    Everything else stays: a run that is not complete, which may be resumed; a run without a report; a sweep, which can
    be continued; a directory with a name that a user chose; links, and the run to which `latest` points.
    """
    latest = (folder / "latest").resolve()
    runs = [path for path in sorted(folder.iterdir()) if _is_whole_run(path)]
    old = [path for path in runs[: max(0, len(runs) - keep)] if path.resolve() != latest]
    for path in old:
        (path / "run.json").unlink()  # first: what is left of a run if this process is killed is no run
        shutil.rmtree(path)
    return old


def _is_whole_run(path: Path) -> bool:
    """Whether a path is the directory of a complete run with its report, made and named by a session."""
    if not _NAME.fullmatch(path.name) or path.is_symlink() or not (path / "index.html").is_file():
        return False
    if (path / "shards" / "sweep.jsonl").exists() or not (path / "shards").is_dir():
        return False
    try:
        info = RunInfo.load(path)
    except (OSError, ValueError):
        return False
    return info.state == "complete" and info.run == path.name
