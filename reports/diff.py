"""Diff: the verb that tells what changed between two runs; `diff` gives it as a DataFrame."""

from __future__ import annotations

import argparse
from pathlib import Path

from tf_opdiff.reports.analysis import bits, causes, changelog
from tf_opdiff.reports.analysis.changes import ULP, diff
from tf_opdiff.reports.analysis.claim_verdicts import verdicts
from tf_opdiff.reports.data import files, run_environment, tables
from tf_opdiff.reports.data.load import OBSERVATIONS, load, load_observations
from tf_opdiff.reports.pages import changelog_page

__all__ = ["add_options", "diff", "main"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness diff` takes."""
    parser.add_argument("before", type=Path, metavar="RUN_A", help="the directory of the earlier run")
    parser.add_argument("after", type=Path, metavar="RUN_B", help="that of the later one, such as runs/latest")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write it as Markdown, too")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it as a page, too")
    parser.add_argument("--bits", action="store_true", help="compare the arrays bit for bit, whatever the verdicts")
    parser.add_argument(
        "--ulp", default=str(ULP), help="how many ULPs a distance may move before it drifted (default: 0.5)"
    )


def _distance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not value >= 0:
        raise ValueError(f"--ulp {text}: expected a number of ULPs, 0 or more")
    return value


def main(options: argparse.Namespace) -> int:
    """Prints what changed; 1 where something got worse, else 0."""
    runs, ulp = (options.before, options.after), _distance(options.ulp)
    infos = run_environment.info(runs[0]), run_environment.info(runs[1])
    before, after = (load(run) for run in runs)
    changes = diff(before, after, ulp=ulp, not_run=tables.not_run(infos[1]))
    numbers = None
    if options.bits:
        for run in runs:
            if not (run / OBSERVATIONS).exists() and not (run / "shards").is_dir():
                raise FileNotFoundError(f"--bits: {run} has no {OBSERVATIONS}")
        numbers = bits.compared(*(load_observations(run) for run in runs))
        changes = bits.attached(bits.asked_anew(changes, numbers), numbers)
    log = changelog.changelog(
        changes,
        before,
        after,
        infos,
        claims=causes.claims(verdicts(before), verdicts(after)),
        numbers=None if numbers is None else bits.silent(changes, numbers),
    )
    if options.markdown:
        files.replace_text(options.markdown, changelog_page.markdown(log))
    if options.html:
        files.replace_text(options.html, changelog_page.html(log))
    files.show("\n".join(changelog_page.text(log)) + "\n")
    return int(changes["worse"].any())
