"""Night runs: the runs of a night, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.run_data.load import load


@dataclass(frozen=True)
class NightRun:
    """A run of a night: its records and its run.json, under the name that it has every night."""

    name: str
    directory: Path
    info: RunInfo
    records: pd.DataFrame


def read(paths: Sequence[Path]) -> list[NightRun]:
    """The runs in these directories; each is the directory of a run, or of a night, whose runs get their groups' names.

    Raises:
      FileNotFoundError: a directory has no run.
      ValueError: two runs have the same name.
    """
    directories: dict[str, Path] = {}
    for path in paths:
        runs = {path.name: path} if (path / "run.json").exists() else {}
        runs = runs or {file.parent.parent.name: file.parent for file in sorted(path.glob("*/*/run.json"))}
        if not runs:
            raise FileNotFoundError(f"{path}: expected the directory of a run, or of a night's merged runs")
        if twice := runs.keys() & directories.keys():
            raise ValueError(f"{path}: expected runs with different names, got two named {min(twice)}")
        directories |= runs
    return [NightRun(name, path, RunInfo.load(path), load(path)) for name, path in directories.items()]
