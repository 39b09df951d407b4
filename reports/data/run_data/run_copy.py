"""Run copy: the data of a run, copied from a folder that nobody vouches for."""

from __future__ import annotations

import shutil
from pathlib import Path

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import compressed
from tf_opdiff.reports.data.run_data.load import ARCHIVE, SCRIPT, SWITCHES, load_repros


def copy(run: Path, into: Path) -> RunInfo:
    """Copies the data of a run into a new folder; returns its run.json.

    The data are `run.json`, the shards, `records.parquet` and `observations.parquet` if shards are compressed,
    `claims.json`, `overrides.json`, `causes.json`, `kernels.json`, `repro.json`, `switches.json` and the programs of
    findings. Every other file of the run, such as its pages, and every link is left out.

    Raises:
      FileNotFoundError: `run` is not the directory of a run, or has no shards.
      FileExistsError: `into` holds a run already.
      ValueError: a file is a link, too large, damaged or of another format.
      OSError: a file can't be read or written.
    """
    shards = rundir.shards(run)
    if not shards:
        raise FileNotFoundError(f"{run}: expected a run with shards, got none")
    for path in shards:
        _copy(path, into / "shards" / path.name, untrusted.ANY)
    packed = any(path.suffix == compressed.SUFFIX for path in shards)  # such shards leave records and arrays to tables
    for name in (rundir.RECORDS, rundir.OBSERVATIONS) if packed else ():
        if (table := untrusted.inside(run, name)).exists():
            _copy(table, into / name, untrusted.ANY)
    for name in ("run.json", "claims.json", "overrides.json", "causes.json", "kernels.json", "repro.json", SWITCHES):
        _copy_text(run, name, into)
    _copy_text(run, ARCHIVE, into)
    for name in {repro["script"] for repro in load_repros(into) if SCRIPT.fullmatch(repro["script"])}:
        if not name.startswith(ARCHIVE):
            _copy_text(run, name, into)
    return RunInfo.load(into)


def _copy_text(run: Path, name: str, into: Path) -> None:
    """Copies a text file of a run, if it exists."""
    if (path := untrusted.inside(run, name)).exists():
        _copy(path, into / name, untrusted.TEXT)


def _copy(path: Path, target: Path, most: int) -> None:
    """Copies a file of at most `most` bytes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with untrusted.opened(path, most) as source, target.open("xb") as file:
        shutil.copyfileobj(source, file)
