"""Extra pages: the pages of a run besides `index.html` and those of ops, in one table; `index.html` links to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.repro.override_listing import OverrideData
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.reports.analysis.batch_matrix import batch_matrix
from tf_opdiff.reports.analysis.claims import Chapter
from tf_opdiff.reports.analysis.override_devices import override_devices, programs
from tf_opdiff.reports.analysis.override_matrix import override_matrices
from tf_opdiff.reports.data import files
from tf_opdiff.reports.data.run_files import RUN_FILES
from tf_opdiff.reports.pages import batches_page, claims_page, overrides_page


@dataclass(frozen=True, kw_only=True)
class RunData:
    """The data of a run from which pages are made.

    Attributes:
      topics: the topics of the claims that the run tested.
      overrides: the cells of the overrides that the run tested, as `reports.data.load.load_overrides` gives them.
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
      holds: a sentence for the list of the files of a run.
      html: the page of a run; empty if the run has nothing to show there.
    """

    file: str
    link: str
    holds: str
    html: Callable[[RunData], str]


def _claims(data: RunData) -> str:
    return claims_page.page(data.topics, data.info) if data.topics else ""


def _batches(data: RunData) -> str:
    batches = batch_matrix(data.records)
    return batches_page.html(batches, data.info, data.spec_links) if batches else ""


def _overrides(data: RunData) -> str:
    matrices = override_matrices(data.records, data.overrides)
    if not matrices:
        return ""
    others = override_devices(data.records, data.overrides)
    return overrides_page.html(matrices, others, programs(data.overrides), data.info)


PAGES = (
    ExtraPage(
        file="overrides.html",
        link="Gradient overrides: which mechanism works where",
        holds="Gradient overrides by op, mechanism, mode and place: applied, ignored, refused, or why there is no such "
        "program; only where the run tested overrides.",
        html=_overrides,
    ),
    ExtraPage(
        file="claims.html",
        link="Claims about TensorFlow, and the verdicts on them",
        holds="Claims and their verdicts, with the programs; only where the run tested claims.",
        html=_claims,
    ),
    ExtraPage(
        file="batches.html",
        link="Rows alone and in batches",
        holds="Whether rows give the same result alone and in batches; only where the run tested batches.",
        html=_batches,
    ),
)


def write(run_dir: Path, data: RunData) -> list[ExtraPage]:
    """Writes the pages for which the run has data; returns these."""
    written = []
    for page in PAGES:
        if text := page.html(data):
            files.replace_text(run_dir / page.file, text)
            written.append(page)
    return written


def run_files() -> dict[str, str]:
    """The files and folders in a run directory, pages included, with a sentence for each."""
    pages = {page.file: page.holds for page in PAGES}
    return {"index.html": RUN_FILES["index.html"], **pages, **RUN_FILES}
