"""Load: what a run directory holds, as DataFrames."""

from __future__ import annotations

import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pandas as pd

from tf_opdiff.harness.repro.listing import ClaimData
from tf_opdiff.harness.repro.reproduce import Outcome
from tf_opdiff.harness.store import parquet, untrusted
from tf_opdiff.harness.store.record import ADDED, COLUMNS, Record
from tf_opdiff.reports.data import frame

RECORDS = "records.parquet"
OBSERVATIONS = "observations.parquet"
_HOLDS = {"str": "texts", "int": "integers", "float": "floats"}
RECORD_COLUMNS = {field.name: _HOLDS[str(field.type)] for field in fields(Record)}
#: How many columns a record had at first; others were added behind them.
OLDEST = len(COLUMNS) - len(ADDED)
OBSERVATION_COLUMNS = dict.fromkeys(frame.OBSERVATIONS.names, "texts") | {
    **dict.fromkeys(("shape", "indices", "dense_shape"), "lists of integers"),
    "bytes": "bytes",
}
#: What an observation without an array has none of.
NULLABLE = ("shape", "bytes", "indices", "dense_shape")
#: The path of a finding's script within its run.
SCRIPT = re.compile(r"repro/[\w.=,+-]+\.py")


def load(run: Path | str) -> pd.DataFrame:
    """The records of a run, one row a verdict, matches included.

    Columns are those of `harness.store.record.COLUMNS`, in that order. Reads `records.parquet` or, before there is one,
    the shards. In a file of an older version, columns that were added since are empty.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: a file is damaged or of another format.
    """
    path = untrusted.inside(Path(run), RECORDS)
    if not path.exists():
        return frame.records(_with_shards(Path(run)))
    return load_file(path)


def load_file(path: Path) -> pd.DataFrame:
    """The records in a file such as `records.parquet`; columns that there were not yet have their defaults.

    Raises:
      FileNotFoundError: there is no such file.
      ValueError: it is damaged or of another format.
    """
    found = parquet.read(path, RECORD_COLUMNS, least=OLDEST).to_pandas()
    for field in fields(Record)[len(found.columns) :]:  # of a run from before there was such a column
        found[field.name] = field.default
    return _typed(found, path)


def load_observations(run: Path | str) -> pd.DataFrame:
    """The observations of a run, one row a quantity of a case under a plan; `reports.frame.array` makes arrays of them.

    Columns: `case`, `device`, `mode`, `quantity`, `status`; `dtype`, `shape`, `bytes` of the array; `indices` and
    `dense_shape` of a sparse gradient; `code` and `message` of an error or a crash.

    Raises:
      FileNotFoundError: `run` is not the directory of a run.
      ValueError: a file is damaged or of another format.
    """
    path = untrusted.inside(Path(run), OBSERVATIONS)
    if not path.exists():
        return frame.observations(_with_shards(Path(run)))
    table = parquet.read(path, OBSERVATION_COLUMNS, nullable=NULLABLE).cast(frame.OBSERVATIONS)
    return _typed(table.to_pandas(), path)


def load_repros(run: Path | str) -> list[dict[str, Any]]:
    """What became of each finding's script, and its `text`: the fields of `harness.repro.reproduce.Outcome`, else
    nothing.

    Raises:
      ValueError: repro.json or a script is a link, or not what a run writes.
    """
    found = [asdict(outcome) for outcome in _listed(run, "repro.json", Outcome)]
    for one in found:
        path = untrusted.inside(Path(run), one["script"]) if SCRIPT.fullmatch(one["script"]) else None
        one["text"] = untrusted.text(path) if path and path.exists() else ""
    return found


def load_claims(run: Path | str) -> list[dict[str, Any]]:
    """What a run says of the claims that the suites hold (see `harness.repro.listing.claims_data`); nothing where it
    says nothing.

    Raises:
      ValueError: claims.json is a link, or not what a run writes.
    """
    return _listed(run, "claims.json", ClaimData)


def _listed(run: Path | str, name: str, of: Any) -> list[Any]:
    path = untrusted.inside(Path(run), name)
    return untrusted.load(path, list[of]) if path.exists() else []


def _with_shards(directory: Path) -> Path:
    if not (directory / "shards").is_dir():
        raise FileNotFoundError(f"{directory} is not the directory of a run: it has neither {RECORDS} nor shards/")
    return directory


def _typed(found: pd.DataFrame, path: Path) -> pd.DataFrame:
    try:
        return frame.typed(found)
    except ValueError as why:
        raise ValueError(f"{path}: {why}") from why
