"""Atlas: the verb that adds finished sweeps to the atlas and writes its document."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.reports.data import atlas, files, searched, swept
from tf_opdiff.reports.pages import atlas_page
from tf_opdiff.reports.text import atlas as text

#: The files of the atlas, the figures that others publish, and the document.
FOLDER = ROOT / "recordings" / "atlas"
PUBLISHED = FOLDER / "published.toml"
DOCUMENT = ROOT / "docs" / "atlas.md"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness atlas`."""
    parser.add_argument(
        "run", type=Path, nargs="*", metavar="RUN", help="the directory of a sweep or a search; none: add nothing"
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, metavar="DIR", help="the files of the atlas")
    parser.add_argument("--document", type=Path, default=DOCUMENT, metavar="FILE", help="the document to write")
    parser.add_argument("--page", type=Path, metavar="FILE", help="also write a page with pictures of the errors")


def main(options: argparse.Namespace) -> int:
    """Adds sweeps and searches to the atlas, names those that can't be added, and writes the document; returns 0."""
    if options.run:
        table, reasons = swept.table(options.run)
        for reason in reasons:
            print(f"not in the atlas: {reason}", file=sys.stderr)
        for path in (*atlas.store(table, options.folder), *searched.store(searched.rows(options.run), options.folder)):
            print(path)
    atlases = atlas.load(options.folder)
    files.replace_text(options.document, text.document(atlases, PUBLISHED, searched.load(options.folder)))
    if options.page:
        files.replace_text(options.page, atlas_page.html(atlases))
    return 0
