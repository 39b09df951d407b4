"""Issues: the verb that opens, updates and closes issues on GitHub."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import msgspec

from tf_opdiff.reports.ci.failing import gather, read
from tf_opdiff.reports.ci.issues import FIELDS, MOST, apply, existing, plan


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness issues` takes."""
    parser.add_argument("run", type=Path, nargs="+", metavar="RUN", help="directories of runs, or of a night's runs")
    parser.add_argument(
        "--issues", type=Path, metavar="FILE", help=f"the issues, as gh issue list --json {FIELDS} says"
    )
    parser.add_argument("--site", default="", metavar="URL", help="where the pages of the night are published")
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help=f"open at most N (default: {MOST})")
    parser.add_argument("--apply", action="store_true", help="do it, by gh; without it, print it as JSON")


def main(options: argparse.Namespace) -> int:
    """Prints what is to be done about issues as JSON, or does it; 0."""
    if options.apply and options.issues:
        raise ValueError("--apply: expected without --issues, as the issues are to be those that there are")
    nights = read(options.run)
    actions = plan(gather(nights, options.site), existing(options.issues), nights, options.most)
    if options.apply:
        apply(actions)
    else:
        print(json.dumps(msgspec.to_builtins(actions), indent=1))
    return 0
