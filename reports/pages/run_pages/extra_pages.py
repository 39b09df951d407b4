"""Extra pages: the pages of a run besides `index.html` and those of ops, in one table; `index.html` links to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from tf_opdiff.harness.repro.override_listing import OverrideData
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.analysis.batch_matrix import batch_matrix
from tf_opdiff.reports.analysis.claim_tables.claims import Chapter
from tf_opdiff.reports.analysis.overrides.override_devices import override_devices, programs
from tf_opdiff.reports.analysis.overrides.override_matrix import override_matrices
from tf_opdiff.reports.data.run_data import files
from tf_opdiff.reports.data.run_data.run_files import RUN_FILES
from tf_opdiff.reports.pages.menu import Menu
from tf_opdiff.reports.pages.run_pages import batches_page, claims_page, overrides_page


@dataclass(frozen=True, kw_only=True)
class RunData:
    """The data of a run from which pages are made.

    Attributes:
      topics: the topics of the claims that the run tested.
      overrides: the cells of the overrides that the run tested, as `reports.data.run_data.load.load_overrides` gives
        them.
      spec_links: the address of the page of each spec's op, relative to the folder of the run.
    """

    records: pd.DataFrame
    info: RunInfo
    topics: Sequence[Chapter] = ()
    overrides: Sequence[OverrideData] = ()
    spec_links: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class ExtraPage:
    """A page of a run.

    Attributes:
      file: its name in the folder of the run.
      link: the words of the link in `index.html`.
      short: the word in the menu.
      holds: a sentence for the list of the files of a run.
      content: the content of the page; empty or None if the run has nothing to show there.
      html: the page of a content.
    """

    file: str
    link: str
    short: str
    holds: str
    content: Callable[[RunData], Any]
    html: Callable[[Any, RunData, Menu], str]


def _overrides(data: RunData) -> Any:
    return override_matrices(data.records, data.overrides)


def _overrides_html(matrices: Any, data: RunData, menu: Menu) -> str:
    others = override_devices(data.records, data.overrides)
    return overrides_page.html(matrices, others, programs(data.overrides), data.info, menu)


PAGES = (
    ExtraPage(
        file="overrides.html",
        link="Gradient overrides: which mechanism works where",
        short="Overrides",
        holds="Gradient overrides by op, mechanism, mode and place: applied, ignored, refused, or why there is no such "
        "program; only where the run tested overrides.",
        content=_overrides,
        html=_overrides_html,
    ),
    ExtraPage(
        file="claims.html",
        link="Claims about TensorFlow, and the verdicts on them",
        short="Claims",
        holds="Claims and their verdicts, with the programs; only where the run tested claims.",
        content=lambda data: data.topics,
        html=lambda topics, data, menu: claims_page.page(topics, data.info, menu),
    ),
    ExtraPage(
        file="batches.html",
        link="Rows alone and in batches",
        short="Batches",
        holds="Whether rows give the same result alone and in batches; only where the run tested batches.",
        content=lambda data: batch_matrix(data.records),
        html=lambda matrix, data, menu: batches_page.html(matrix, data.info, data.spec_links, menu),
    ),
)


def write(run_dir: Path, data: RunData) -> list[ExtraPage]:
    """Writes the pages for which the run has data; returns these."""
    contents = [(page, content) for page in PAGES if (content := page.content(data))]
    written = [page for page, _ in contents]
    for page, content in contents:
        files.replace_text(run_dir / page.file, page.html(content, data, Menu(page.file, links(written))))
    return written


def links(pages: Sequence[ExtraPage]) -> list[tuple[str, str]]:
    """The file of each page, and its word in the menu."""
    return [(page.file, page.short) for page in pages]


def written(run_dir: Path) -> list[ExtraPage]:
    """The pages that the folder of a run has."""
    return [page for page in PAGES if (run_dir / page.file).is_file()]


def run_files() -> dict[str, str]:
    """The files and folders in a run directory, pages included, with a sentence for each."""
    pages = {page.file: page.holds for page in PAGES}
    return {"index.html": RUN_FILES["index.html"], **pages, **RUN_FILES}
