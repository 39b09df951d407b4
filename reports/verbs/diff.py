"""Diff: the verb that prints the changes between two runs; `diff` gives them as a DataFrame."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
import pandas as pd

from tf_opdiff.harness.system.memory import give_large_blocks_back
from tf_opdiff.harness.system.number_argument import ULPS
from tf_opdiff.reports.analysis.claim_tables.claim_verdicts import changed, verdicts
from tf_opdiff.reports.analysis.comparisons import bits, bits_of_changes, changelog, noise, silent_changes
from tf_opdiff.reports.analysis.comparisons.changes import ULP, diff
from tf_opdiff.reports.analysis.histories import nights, stored_run
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.run_data import files, run_environment
from tf_opdiff.reports.data.run_data.load import load, load_observations, with_observations
from tf_opdiff.reports.pages.run_pages import changelog_page

__all__ = ["add_options", "diff", "main"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness diff`."""
    parser.add_argument("before", type=Path, metavar="RUN_A", help="the directory of the earlier run")
    parser.add_argument("after", type=Path, metavar="RUN_B", help="that of the later one, such as runs/latest")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the changes as Markdown")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write them as a page")
    parser.add_argument("--bits", action="store_true", help="compare the arrays bit for bit, whatever the verdicts")
    parser.add_argument(
        "--ulp", type=ULPS, default=ULP, help="ULPs that a distance may move before it counts as drifted (default: 0.5)"
    )
    parser.add_argument(
        "--noise",
        type=Path,
        metavar="DIR",
        help="folder of earlier runs; a record has drifted if its distance is outside the range of those runs",
    )


def main(options: argparse.Namespace) -> int:
    """Prints the changes; returns 1 if something got worse, else 0."""
    give_large_blocks_back()
    runs, ulp = (options.before, options.after), options.ulp
    infos = run_environment.info(runs[0]), run_environment.info(runs[1])
    before, after = (load(run) for run in runs)
    changes = diff(before, after, ulp=ulp, not_run=tables.not_run(infos[1]), noise=_noise(options))
    silent = None
    if options.bits:
        numbers = bits.compared(*(load_observations(with_observations(run, "--bits")) for run in runs))
        changes = bits_of_changes.with_changed_inputs(changes, numbers)
        changes = bits_of_changes.with_numbers(changes, numbers)
        silent = silent_changes.silent(changes, numbers)
    claims = changed(verdicts(before), verdicts(after))
    log = changelog.changelog(changes, before, after, infos, claims=claims, numbers=silent)
    if options.markdown:
        files.replace_text(options.markdown, changelog_page.markdown(log))
    if options.html:
        files.replace_text(options.html, changelog_page.html(log))
    files.show("\n".join(changelog_page.text(log)) + "\n")
    return int(changes["worse"].any())


def _noise(options: argparse.Namespace) -> pd.DataFrame | None:
    """The range of the distance of each record over the runs of `--noise` that are like the later run."""
    if options.noise is None:
        return None
    like, _ = stored_run.of_source(options.after)
    return noise.noise(nights.read(options.noise), msgspec.to_builtins(like))
