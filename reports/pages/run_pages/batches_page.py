"""Batches page: whether a row of each op gives the same bits in batches of several sizes."""

from __future__ import annotations

from collections.abc import Mapping

from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.batch_matrix import STATES, BatchMatrix
from tf_opdiff.reports.pages.menu import Menu
from tf_opdiff.reports.pages.template import own_style, render


def html(matrix: BatchMatrix, info: RunInfo, spec_links: Mapping[str, str], menu: Menu | None = None) -> str:
    """The page. It has no script, and all text from outside is escaped.

    Args:
      matrix: the matrix of the run.
      info: its run.json.
      spec_links: the address of the page of each spec's op, relative to the folder of the run.
      menu: that of the page; without it, one without further pages.
    """
    return render(
        "batches.html",
        own_style=own_style("batches/batches.css"),
        matrix=matrix,
        states=STATES,
        info=info,
        menu=menu or Menu("batches.html"),
        spec_links=spec_links,
    )
