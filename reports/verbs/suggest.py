"""Suggest: the verb that writes known failures for the failures of a run, or finds entries that are spent."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.paths import KNOWN, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.known_failures import known_entry, ledger, spent_entries
from tf_opdiff.reports.analysis.known_failures.suggest import suggest
from tf_opdiff.reports.data.run_data import files
from tf_opdiff.reports.data.run_data.load import load
from tf_opdiff.reports.text.lines import plain
from tf_opdiff.reports.text.sentences import sentence


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness suggest`."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a run, such as runs/latest")
    parser.add_argument("--known", type=Path, metavar="PATH", default=Path(KNOWN), help="the file or folder of entries")
    parser.add_argument("--prune", action="store_true", help="name spent entries instead: no record needs them")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="PATH",
        help="the file of the result, or the folder where --prune reads one; default: print it",
    )
    parser.add_argument("--in-place", action="store_true", help="with --prune: delete spent entries from their files")


def main(options: argparse.Namespace) -> int:
    """Writes entries for the failures of a run; or names spent entries and writes the files without them. Returns 0."""
    if options.in_place and (not options.prune or options.out):
        raise ValueError("--in-place: expected with --prune, and without --out")
    catalog = Catalog.load(SUITES)
    known = known_files.load(options.known, catalog)
    records = load(options.run)
    if not len(records):
        raise LookupError(f"{options.run}: expected a run with records; it has none")
    if (options.run / "run.json").exists():
        known = known.on(RunInfo.load(options.run).devices)
        for note in sentence.partial_note(options.run):
            print(plain(note[0].upper() + note[1:], 200), file=sys.stderr)
    return _prune(records, known, options) if options.prune else _suggest(records, known, catalog, options.out)


def _suggest(records: pd.DataFrame, known: Known, catalog: Catalog, out: Path | None) -> int:
    suggestions, reasons = suggest(records, known, catalog)
    text = "# Nothing to suggest: no record is a mismatch.\n"
    if suggestions or len(reasons):
        text = known_entry.text(suggestions, reasons, records)
    if out:
        files.replace_text(out, text)
        print(f"{len(suggestions)} entries for {sum(len(one.rows) for one in suggestions):,} records are in {out}")
    else:
        files.show(text)
    return 0


def _prune(records: pd.DataFrame, known: Known, options: argparse.Namespace) -> int:
    entries = ledger.entries(records, known)
    target = options.known if options.in_place else options.out
    files.show("\n".join(spent_entries.lines(entries, target)) + "\n")
    if not target:
        return 0
    if options.known.is_dir():
        target.mkdir(exist_ok=True)
    for path, (before, after) in spent_entries.files_without(options.known, entries).items():
        if before != after or not options.in_place:
            files.replace_text(target / path.name if options.known.is_dir() else target, after)
    return 0
