"""Table: what a run's records say, as a table to read or to take along: `python -m harness table NAME RUN`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.spec.catalog import unknown
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.data import files, parquet, tables
from tf_opdiff.reports.data.load import load
from tf_opdiff.reports.data.missing_kernels import lacking
from tf_opdiff.reports.text import formats, sentence

#: What there is; the first line of what each says of itself is listed.
TABLES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "by_op": tables.by_op,
    "by_spec": tables.by_spec,
    "by_plan": tables.by_plan,
    "by_kind": tables.by_kind,
    "worst_margins": lambda records: tables.worst_margins(records, len(records)),
    "slowest": lambda records: tables.slowest(records, len(records)),
    "coverage": tables.coverage,
    "known": tables.known,
    "lacking": lacking,
}
FORMATS: dict[str, Callable[[pd.DataFrame], str]] = {
    "text": formats.text,
    "markdown": formats.markdown,
    "csv": formats.csv,
}
ENDINGS = {".md": "markdown", ".csv": "csv", ".parquet": "parquet"}
#: Rows that are shown to people, unless they ask for more.
SHOWN = 50


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness table` takes."""
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"{', '.join(TABLES)}; without it, what each holds")
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN", help="a run's directory, such as runs/latest")
    names = [*FORMATS, "parquet"]
    parser.add_argument("--format", choices=names, help="default: as --out ends, else text")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there; default: print it")
    parser.add_argument("--top", type=int, metavar="N", help=f"the first N rows; default: {SHOWN} to read, else all")


def make(name: str, records: pd.DataFrame) -> pd.DataFrame:
    """The table of this name.

    Raises:
      LookupError: there is none; the message names the nearest.
    """
    if name not in TABLES:
        raise LookupError(unknown("table", name, set(TABLES)))
    return TABLES[name](records)


def main(options: argparse.Namespace) -> int:
    """Prints or writes a table; says on stderr where the run is not whole, and what was left out. Returns 0.

    Raises:
      LookupError: there is no such table.
      ValueError: RUN or --out is missing, --top is negative, or a file of the run is damaged.
      OSError: RUN is not a run's directory, or FILE can't be written.
    """
    if options.name is None:
        files.show("".join(f"{name:14} {_first_line(name)}\n" for name in TABLES))
        return 0
    form = options.format or ENDINGS.get(options.out.suffix if options.out else "", "text")
    if options.name in TABLES and options.run is None:
        raise ValueError(f"table {options.name}: expected the directory of a run as well, such as runs/latest")
    if form == "parquet" and options.out is None:
        raise ValueError("parquet is no text: expected --out FILE as well")
    if options.top is not None and options.top < 0:
        raise ValueError(f"--top {options.top}: expected a number of rows, 0 or more")
    records = load(options.run) if options.run else pd.DataFrame()
    whole = make(options.name, records)
    top = options.top if options.top is not None else SHOWN if form in ("text", "markdown") else len(whole)
    table = whole.head(top)
    for note in _notes(options.run, table, whole):
        print(f"python -m harness table: {note}", file=sys.stderr)
    if form == "parquet":
        parquet.write(table, options.out)
    elif options.out:
        files.replace_text(options.out, FORMATS[form](table))
    else:
        files.show(FORMATS[form](table))
    return 0


def _notes(run: Path, table: pd.DataFrame, whole: pd.DataFrame) -> list[str]:
    """What a reader has to know besides the table itself."""
    notes = [f"{len(table):,} of {len(whole):,} rows; --top {len(whole)} gives all"] if len(table) < len(whole) else []
    try:
        missing = sentence.shortfalls(RunInfo.load(run))
    except (OSError, ValueError, TypeError):
        missing = ["it has no run.json that can be read"]
    return notes + ([f"partial run: {'; '.join(missing)}"] if missing else [])


def _first_line(name: str) -> str:
    return (TABLES[name].__doc__ or getattr(tables, name).__doc__ or "").partition("\n")[0]
