"""Load: what a run directory holds, as DataFrames."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from harness.record import ADDED, COLUMNS
from reports import frame, parquet

RECORDS = "records.parquet"
OBSERVATIONS = "observations.parquet"
#: The path of a finding's script within its run.
SCRIPT = re.compile(r"repro/[\w.=,+-]+\.py")


def load(run: Path | str) -> pd.DataFrame:
    """The records of a run, one row a verdict, matches included.

    Columns are those of `harness.record.COLUMNS`, in that order. Reads `records.parquet` or, before there is one,
    the shards. In a file of an older version, columns that were added since are empty.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: a file is damaged or of another format.
    """
    path = Path(run) / RECORDS
    if not path.exists():
        return frame.records(_with_shards(Path(run)))
    found = parquet.read(path)
    known = [name for name in COLUMNS if name in found.columns or name not in ADDED]
    records = _of_columns(found, tuple(known), path)
    return records.assign(**{name: "" for name in ADDED if name not in known})[list(COLUMNS)]


def load_observations(run: Path | str) -> pd.DataFrame:
    """The observations of a run, one row a quantity of a case under a plan; `reports.frame.array` makes arrays of them.

    Columns: `case`, `device`, `mode`, `quantity`, `status`; `dtype`, `shape`, `bytes` of the array; `indices` and
    `dense_shape` of a sparse gradient; `code` and `message` of an error or a crash.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: a file is damaged or of another format.
    """
    path = Path(run) / OBSERVATIONS
    if not path.exists():
        return frame.observations(_with_shards(Path(run)))
    return _of_columns(parquet.read(path), tuple(frame.OBSERVATIONS.names), path)


def load_repros(run: Path | str) -> list[dict[str, Any]]:
    """What became of each finding's script, and its `text`: the fields of `harness.reproduce.Outcome`, else nothing."""
    found = _listed(run, "repro.json")
    for one in found:
        script = Path(run) / one["script"]
        one["text"] = script.read_text() if SCRIPT.fullmatch(one["script"]) and script.is_file() else ""
    return found


def load_claims(run: Path | str) -> list[dict[str, Any]]:
    """What a run says of the claims that the suites hold (see `harness.claim.told`); nothing where it says nothing."""
    return _listed(run, "claims.json")


def _listed(run: Path | str, name: str) -> list[dict[str, Any]]:
    path = Path(run) / name
    return json.loads(path.read_text()) if path.exists() else []


def _with_shards(directory: Path) -> Path:
    if not (directory / "shards").is_dir():
        raise FileNotFoundError(f"{directory} is not the directory of a run: it has neither {RECORDS} nor shards/")
    return directory


def _of_columns(found: pd.DataFrame, columns: tuple[str, ...], path: Path) -> pd.DataFrame:
    if tuple(found.columns) != columns:
        raise ValueError(f"{path}: has the columns {', '.join(found.columns)}; expected {', '.join(columns)}")
    return frame.typed(found)
