"""Issues: the verb that opens, updates and closes issues on GitHub."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec

from tf_opdiff.harness.system.number_argument import Number
from tf_opdiff.reports.ci.failing import gather
from tf_opdiff.reports.ci.github_issues import FIELDS, apply, existing
from tf_opdiff.reports.ci.issues import MOST, plan
from tf_opdiff.reports.ci.night_runs import read


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness issues`."""
    parser.add_argument("run", type=Path, nargs="+", metavar="RUN", help="directories of runs, or of a night's runs")
    output = f"the output of gh issue list --json {FIELDS}"
    parser.add_argument("--issues", type=Path, metavar="FILE", help=f"the issues: {output}; default: ask GitHub")
    parser.add_argument("--site", default="", metavar="URL", help="the address of the night's pages")
    parser.add_argument(
        "--most", type=Number("issues", 0, 10_000), default=MOST, metavar="N", help=f"open at most N (default: {MOST})"
    )
    parser.add_argument(
        "--apply", action="store_true", help="carry out the actions with gh; default: print them as JSON"
    )


def main(options: argparse.Namespace) -> int:
    """Prints the actions on issues as JSON, or carries them out; returns 0."""
    if options.apply and options.issues:
        raise ValueError("--apply: expected without --issues, because actions must be based on GitHub's own list")
    nights = read(options.run)
    actions = plan(gather(nights, options.site), existing(options.issues), nights, options.most)
    if options.apply:
        apply(actions)
    else:
        print(json.dumps(msgspec.to_builtins(actions), indent=1))
    return 0
