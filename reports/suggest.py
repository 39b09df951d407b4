"""Suggest: the verb that writes known failures for what fails in a run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.judge import known_files
from tf_opdiff.harness.judge.known import Known, Place
from tf_opdiff.harness.judge.known_files import KnownError
from tf_opdiff.harness.paths import KNOWN, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.reports.analysis import known_entry, known_text, ledger
from tf_opdiff.reports.analysis.suggest import suggest
from tf_opdiff.reports.data import files, tables
from tf_opdiff.reports.data.load import load as load_records
from tf_opdiff.reports.text import sentence
from tf_opdiff.reports.text.summary import plain


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness suggest` takes."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a run, such as runs/latest")
    parser.add_argument("--known", type=Path, metavar="PATH", default=Path(KNOWN), help="the file or folder of entries")
    parser.add_argument("--prune", action="store_true", help="name entries that the run shows to be spent, instead")
    parser.add_argument("--out", type=Path, metavar="PATH", help="write there, not to the terminal")
    parser.add_argument("--in-place", action="store_true", help="with --prune: take spent entries out of their files")


def main(options: argparse.Namespace) -> int:
    """Writes entries for what fails in a run, or names those that are spent and writes the files without them; 0."""
    if options.in_place and (not options.prune or options.out):
        raise ValueError("--in-place: expected with --prune, and without --out")
    catalog = Catalog.load(SUITES)
    try:
        known = known_files.load(options.known, catalog)
    except KnownError as error:
        raise ValueError(str(error)) from error
    records = load_records(options.run)
    if not len(records):
        raise LookupError(f"{options.run}: expected a run with records; it has none")
    if (options.run / "run.json").exists() and (missing := sentence.shortfalls(RunInfo.load(options.run))):
        print(f"Partial run: {plain('; '.join(missing), 200)}", file=sys.stderr)
    if options.prune:
        return _prune(records, known, options)
    made, why = suggest(records, known, catalog)
    told = (
        known_entry.text(made, why, records) if made or len(why) else "# Nothing to suggest: no record is a mismatch.\n"
    )
    if options.out:
        files.replace_text(options.out, told)
        print(f"{len(made)} entries for {sum(len(one.rows) for one in made):,} records are in {options.out}")
    else:
        files.show(told)
    return 0


def _prune(records: pd.DataFrame, known: Known, options: argparse.Namespace) -> int:
    table = ledger.entries(records, known)
    for row in tables.rows(table[table["state"].isin(ledger.SAYS)]):
        place, says = Place(row["file"], row["entry"]), ledger.SAYS[row["state"]].format(**row)
        files.show(plain(f"{place} ({row['spec']}, {row['kind']}): {says}") + "\n")
    spent = table["state"].isin(["stale", "idle"])
    target = options.known if options.in_place else options.out
    files.show(f"{spent.sum()} of {len(table)} entries are spent{f'; {target} is without them' if target else ''}\n")
    if target:
        causes = {*table["cause"]} - {*table[~spent]["cause"]}
        for name, path in known_files.files(options.known).items():
            numbers = table[spent & (table["file"] == name)]["entry"].tolist()
            whole = path.read_bytes().decode()
            left = known_text.without(whole, numbers, causes)
            if left != whole or not options.in_place:
                files.replace_text(_written(path, options), left)
    return 0


def _written(path: Path, options: argparse.Namespace) -> Path:
    """The file to write in place of one that is read: of the same name, where `--out` stands for a folder."""
    if options.in_place:
        return path
    if not options.known.is_dir():
        return Path(options.out)
    options.out.mkdir(exist_ok=True)
    return Path(options.out) / path.name
