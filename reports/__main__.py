"""`python -m reports DIR`: writes the report of a run again."""

import argparse
from pathlib import Path

from harness.rundir import RunInfo
from reports import claims
from reports.load import load
from reports.write import write

parser = argparse.ArgumentParser(prog="python -m reports", description="Writes the report of a run again.")
parser.add_argument("directory", type=Path, metavar="DIR", help="the directory of a run")
parser.add_argument(
    "--keep-claims",
    action="store_true",
    help=f"first keep its verdicts on claims in {claims.KEPT.parent.name}/{claims.KEPT.name}, for pages of other runs",
)
options = parser.parse_args()
if options.keep_claims:
    print(f"{claims.keep(load(options.directory))} verdicts on claims are kept in {claims.KEPT}")
write(options.directory, RunInfo.load(options.directory))
