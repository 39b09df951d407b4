"""`python -m reports DIR`: writes the report of a run again."""

import argparse
from pathlib import Path

from harness.rundir import RunInfo
from reports.write import write

parser = argparse.ArgumentParser(prog="python -m reports", description="Writes the report of a run again.")
parser.add_argument("directory", type=Path, metavar="DIR", help="the directory of a run")
directory = parser.parse_args().directory
write(directory, RunInfo.load(directory))
