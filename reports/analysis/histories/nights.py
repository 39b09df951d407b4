"""Nights: the runs of a folder, the newest first, those whose directories were deleted included."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import pandas as pd
import pyarrow as pa

from tf_opdiff.reports.analysis.histories.stored_run import UNREADABLE, RunFacts, records_of, stored_run
from tf_opdiff.reports.data.run_data.load import OBSERVATIONS, RECORDS

#: The folder with the small files, within the folder of runs.
STORED = "history"
#: The facts of a run that are columns of `Nights.runs`.
FACTS = ("run", "started", "tf", "cuda", "host", "name", "partial", "environment")


@dataclass(frozen=True)
class Nights:
    """The runs of a folder.

    Attributes:
      runs: one row for each run, the newest first: the columns of `FACTS` (see
        `reports.analysis.histories.stored_run.RunFacts`) and `records`, how many it has.
      records: one row for each record: the columns of `reports.analysis.histories.stored_run.KEY` as categories, `run`
        (the row in `runs`), `verdict`, `kind` and `max_ulp` (in ULPs, float32).
      left_out: the names of the runs that can't be read, each with the reason.
    """

    runs: pd.DataFrame
    records: pd.DataFrame
    left_out: dict[str, str]


def read(folder: Path | str, last: int | None = None) -> Nights:
    """The runs in a folder: run directories, files of records (`*.parquet`), and stored key figures of deleted runs.

    Stores the key figures of new runs under `history/`, if the folder is writable. `last` takes the newest runs only.

    Raises:
      LookupError: the folder has no run.
      OSError: `folder` is no directory.
      ValueError: `last` is not positive.
    """
    folder = Path(folder)
    if last is not None and last < 1:
        raise ValueError(f"last {last}: expected a positive number of runs")
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder}: expected a folder of runs, such as runs")
    runs: dict[str, tuple[RunFacts, pa.Table]] = {}
    left_out: dict[str, str] = {}
    for name, source in _sources(folder).items():
        try:
            facts, table = stored_run(folder / STORED / f"{name}.parquet", source)
        except UNREADABLE as why:
            left_out[name] = " ".join(str(why).split()) or type(why).__name__
            continue
        facts.name = name
        if facts.run in runs:
            left_out[name] = f"is the same run {facts.run} as {runs[facts.run][0].name}"
        else:
            runs[facts.run] = facts, table
    if not runs:
        raise LookupError(_none(folder, left_out))
    newest = sorted(runs.values(), key=lambda run: (run[0].started, run[0].run), reverse=True)[:last]
    rows = [{name: msgspec.to_builtins(facts)[name] for name in FACTS} for facts, _ in newest]
    tables = [table for _, table in newest]
    return Nights(pd.DataFrame(rows).assign(records=[len(t) for t in tables]), records_of(tables), left_out)


def _none(folder: Path, left_out: dict[str, str]) -> str:
    unreadable = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:3])
    unreadable = f" ({unreadable})" if unreadable else ""
    return f"{folder}: expected run directories or files of records; found none that can be read{unreadable}"


def _sources(folder: Path) -> dict[str, Path | None]:
    """The directory or file of records of each run, by name; None where only the small file is left."""
    sources: dict[str, Path | None] = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink() and path.name != STORED:
            if any((path / part).exists() for part in ("run.json", RECORDS, "shards")):
                sources[path.name] = path
        elif path.suffix == ".parquet" and path.is_file() and path.name != OBSERVATIONS:
            sources[path.name] = path
    stored = sorted((folder / STORED).glob("*.parquet"))
    return sources | {path.stem: None for path in stored if path.stem not in sources}
