"""Claims: the verb that prints a run's verdicts on claims."""

from __future__ import annotations

import argparse
from pathlib import Path

from tf_opdiff.harness.store.record import CLAIM, FAILING
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.analysis.claim_verdicts import KEPT, keep, verdicts
from tf_opdiff.reports.data import tables
from tf_opdiff.reports.data.files import show
from tf_opdiff.reports.data.load import load, load_claims


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness claims` takes."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a run, such as runs/latest")
    kept_in = f"{KEPT.parent.name}/{KEPT.name}"
    parser.add_argument("--keep", action="store_true", help=f"keep them in {kept_in}, for the pages of other runs")


def main(options: argparse.Namespace) -> int:
    """Prints a line for each claim and plan; 1 where one is faulty or not as expected, else 0."""
    records = load(options.run)
    found = verdicts(records)
    for row in tables.rows(found):
        plan = f"{row['device']}/{row['mode']}"
        show(f"{row['claim']:6} {row['tf']:9} {plan:14} {row['verdict']}\n")
    if options.keep:
        print(f"{keep(records, RunInfo.load(options.run), load_claims(options.run))} verdicts are kept in {KEPT}")
    told = records["against"].astype(str).str.startswith(CLAIM)
    return int(records[told]["verdict"].isin(FAILING).any())
