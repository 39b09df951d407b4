"""Claims: the verb that prints a run's verdicts on claims."""

from __future__ import annotations

import argparse
from pathlib import Path

from tf_opdiff.harness.spec.plan import PlanName
from tf_opdiff.harness.store.records.record import CLAIM, FAILING
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.claim_tables import claim_store
from tf_opdiff.reports.analysis.claim_tables.claim_verdicts import verdicts
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data.files import show
from tf_opdiff.reports.data.run_data.load import load, load_claims


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness claims`."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a run, such as runs/latest")
    file = f"{claim_store.FILE.parent.name}/{claim_store.FILE.name}"
    parser.add_argument("--keep", action="store_true", help=f"store them in {file}, for the pages of other runs")


def main(options: argparse.Namespace) -> int:
    """Prints a line for each claim and plan; returns 1 if a claim is faulty or has an unexpected verdict, else 0."""
    records = load(options.run)
    for row in tables.rows(verdicts(records)):
        plan = str(PlanName(row["device"], row["mode"]))
        show(f"{row['claim']:6} {row['tf']:9} {plan:14} {row['verdict']}\n")
    if options.keep:
        count = claim_store.store(records, RunInfo.load(options.run), load_claims(options.run))
        print(f"{count} verdicts are stored in {claim_store.FILE}")
    about_claims = records["against"].astype(str).str.startswith(CLAIM)
    return int(records[about_claims]["verdict"].isin(FAILING).any())
