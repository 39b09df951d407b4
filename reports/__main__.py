"""`python -m reports DIR`: writes the report of a run again."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tf_opdiff.harness.store.run_directories.judges import JudgedBy, add_options
from tf_opdiff.harness.store.run_directories.run_info import REPORTING
from tf_opdiff.harness.system.memory import give_large_blocks_back
from tf_opdiff.harness.system.terminal import guarded
from tf_opdiff.reports.analysis.comparisons.since_last_run import earlier
from tf_opdiff.reports.data.run_data.run_environment import info
from tf_opdiff.reports.write import write


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the report; returns the exit status: 0, or 4 if DIR is no run, or a damaged one."""
    parser = argparse.ArgumentParser(prog="python -m reports", description="Writes the report of a run again.")
    parser.add_argument("directory", type=Path, metavar="DIR", help="the directory of a run")
    add_options(parser)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:  # argparse ends with 2, which here means an interrupted run
        return 4 if end.code else 0
    give_large_blocks_back()
    directory, judged_by = options.directory, JudgedBy(options.suites, options.known)
    with guarded():
        try:
            about = info(directory)
            killed, about.state = about.state == REPORTING, "complete" if about.state == REPORTING else about.state
            if other := judged_by.other(about):
                print(f"python -m reports: {other}: the page shows no entries of known failures", file=sys.stderr)
            write(directory, about, before=earlier(directory, about), judged_by=None if other else judged_by)
            if killed:  # the run ended before its report was written
                about.save(directory)
        except (LookupError, ValueError, RuntimeError, OSError) as error:
            print(f"python -m reports: {error.args[0] if len(error.args) == 1 else error}", file=sys.stderr)
            return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
