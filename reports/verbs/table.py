"""Table: the verb that prints or writes a table of a run's records: `python -m harness table NAME RUN`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.system.number_argument import Number
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import files, parquet
from tf_opdiff.reports.data.run_data.load import load, load_attributions, load_causes
from tf_opdiff.reports.text.formats import FORMAT_OF_SUFFIX, FORMATS
from tf_opdiff.reports.text.sentences import sentence

#: The rows of a table for people, unless they name another number.
SHOWN = 50


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness table`."""
    names = ", ".join(tables.NAMED)
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"{names}; without it, a list of what each table holds")
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN", help="a run's directory, such as runs/latest")
    parser.add_argument("--format", choices=[*FORMATS, "parquet"], help="default: the suffix of --out, else text")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table there; default: print it")
    parser.add_argument(
        "--top",
        type=Number("rows", 0, 10**9),
        metavar="N",
        help=f"the first N rows; default: {SHOWN} to read, else all",
    )


def main(options: argparse.Namespace) -> int:
    """Prints or writes a table; notes on stderr if the run is partial or rows are left out. Returns 0.

    Raises:
      LookupError: the table is unknown.
      ValueError: RUN or --out is missing, no format has the suffix of --out, or a file of the run is damaged.
      OSError: RUN is not a run's directory, or FILE can't be written.
    """
    if options.name is None:
        files.show(tables.described())
        return 0
    format_name = options.format or _format_of(options.out)
    _check(options, format_name)
    whole = _whole(options.name, options.run)
    for_people = format_name in ("text", "markdown")
    top = options.top if options.top is not None else SHOWN if for_people else len(whole)
    table = whole.head(top)
    left_out = [f"{top:,} of {len(whole):,} rows; --top {len(whole)} gives all"] if top < len(whole) else []
    for note in [*left_out, *sentence.partial_note(options.run)]:
        print(f"python -m harness table: {note}", file=sys.stderr)
    if format_name == "parquet":
        parquet.write(table, options.out)
    elif options.out:
        files.replace_text(options.out, FORMATS[format_name](table))
    else:
        files.show(FORMATS[format_name](table))
    return 0


def _format_of(out: Path | None) -> str:
    """The format of a file by its suffix; text without a file.

    Raises:
      ValueError: no format has the suffix.
    """
    suffix = out.suffix if out else ""
    if suffix not in FORMAT_OF_SUFFIX:
        known = ", ".join(filter(None, FORMAT_OF_SUFFIX))
        raise ValueError(f"--out {out}: expected a file with a suffix of {known}, or --format as well; got {suffix}")
    return FORMAT_OF_SUFFIX[suffix]


def _whole(name: str, run: Path | None) -> pd.DataFrame:
    if run is None:
        return tables.make(name, pd.DataFrame())
    return tables.make(name, load(run), load_causes(run), load_attributions(run))


def _check(options: argparse.Namespace, format_name: str) -> None:
    if options.name in tables.NAMED and options.run is None:
        raise ValueError(f"table {options.name}: expected the directory of a run as well, such as runs/latest")
    if format_name == "parquet" and options.out is None:
        raise ValueError("parquet is no text: expected --out FILE as well")
