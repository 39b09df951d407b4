"""History: the verb that shows the verdicts of a folder of runs over time."""

from __future__ import annotations

import argparse
from pathlib import Path

from tf_opdiff.harness.system.number_argument import Number
from tf_opdiff.reports.analysis.histories.nights import read
from tf_opdiff.reports.analysis.histories.timeline import timeline
from tf_opdiff.reports.data.run_data import files
from tf_opdiff.reports.pages.run_pages import history_page


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness history`."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder of runs, such as runs")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write Markdown")
    parser.add_argument("--last", type=Number("runs", 1, 10**6), metavar="N", help="the newest N runs only")


def main(options: argparse.Namespace) -> int:
    """Prints the timeline of a folder of runs, and writes it to the files that the options name; returns 0."""
    shown = timeline(read(options.folder, options.last))
    files.show("\n".join(history_page.text(shown)) + "\n")
    if options.markdown:
        files.replace_text(options.markdown, history_page.markdown(shown))
    if options.html:
        files.replace_text(options.html, history_page.html(shown, options.folder, options.html))
    return 0
