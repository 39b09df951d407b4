"""History: the verb that shows the verdicts of a folder of runs over time."""

from __future__ import annotations

import argparse
from pathlib import Path

from tf_opdiff.reports.analysis.nights import read
from tf_opdiff.reports.data import files


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `python -m harness history` takes."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder of runs, such as runs")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write it in Markdown")
    parser.add_argument("--last", metavar="N", help="the newest N runs only")


def main(options: argparse.Namespace) -> int:
    """Prints the history of a folder of runs, and writes it where asked; 0."""
    from tf_opdiff.reports.pages import history_page

    last = None
    if options.last is not None:
        if not options.last.isdecimal() or not int(options.last):
            raise ValueError(f"--last {options.last}: expected a positive number of runs")
        last = int(options.last)
    told = history_page.of(read(options.folder, last))
    files.show("\n".join(history_page.text(told)) + "\n")
    if options.markdown:
        files.replace_text(options.markdown, history_page.markdown(told))
    if options.html:
        files.replace_text(options.html, history_page.html(told, options.folder, options.html))
    return 0
