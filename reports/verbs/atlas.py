"""Atlas: the verb that adds finished sweeps to the atlas, and writes its document and the ceilings of specs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tf_opdiff.harness.paths import ATLAS, ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.reports.analysis import ceilings
from tf_opdiff.reports.data.figures import atlas, searched
from tf_opdiff.reports.data.run_data import files, sweep_tables
from tf_opdiff.reports.pages.op_pages import atlas_page
from tf_opdiff.reports.text.atlases import atlas as text

#: The files of the atlas, the figures that others publish, and the document.
FOLDER = ATLAS
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
    """Adds sweeps and searches to the atlas, names those that can't be added, and writes document and ceilings.

    Returns:
      0.

    Raises:
      ValueError: the folder of the atlas has no tables.
    """
    if options.run:
        table, reasons = sweep_tables.table(options.run)
        for reason in reasons:
            print(f"not in the atlas: {reason}", file=sys.stderr)
        for path in (*atlas.store(table, options.folder), *searched.store(searched.rows(options.run), options.folder)):
            print(path)
    atlases, searches = atlas.load(options.folder), searched.load(options.folder)
    if not atlases and not searches:
        raise ValueError(f"--folder {options.folder}: expected a folder with tables of the atlas")
    for folder in {path.absolute().parent for path in (options.document, options.page) if path}:
        folder.mkdir(parents=True, exist_ok=True)
    catalog = Catalog.load(SUITES)
    for name, table in atlases.items():
        files.replace_text(options.folder / f"{name}.toml", ceilings.text(table, catalog))
    files.replace_text(options.document, text.document(atlases, PUBLISHED, searches))
    if options.page:
        files.replace_text(options.page, atlas_page.html(atlases))
    return 0
