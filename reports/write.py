"""Write: the records, observations and report of a run as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import pandas as pd

from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.run_directories.judges import OURS, JudgedBy
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.memory import give_free_memory_back
from tf_opdiff.reports.analysis import search_index
from tf_opdiff.reports.analysis.claim_tables.claims import Chapter
from tf_opdiff.reports.analysis.comparisons import since_last_run
from tf_opdiff.reports.analysis.comparisons.changelog import Changelog
from tf_opdiff.reports.analysis.known_failures import ledger
from tf_opdiff.reports.analysis.ops import plans_at_worst
from tf_opdiff.reports.ci import badge, junit
from tf_opdiff.reports.data.causes import discrepancies
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.figures import tables
from tf_opdiff.reports.data.names.op_names import op_names
from tf_opdiff.reports.data.run_data import files, frame, parquet, run_copy
from tf_opdiff.reports.data.run_data.load import (
    OBSERVATIONS,
    RECORDS,
    load,
    load_attributions,
    load_causes,
    load_overrides,
    load_repros,
)
from tf_opdiff.reports.pages.menu import DISCREPANCIES, INDEX, SEARCH, Menu
from tf_opdiff.reports.pages.run_pages import discrepancies_page, extra_pages, run_overview, run_page, search_page
from tf_opdiff.reports.text import formats
from tf_opdiff.reports.text.bounded import bounded_records
from tf_opdiff.reports.text.sentences import markdown
from tf_opdiff.reports.verbs.op_report import OpReport, topics_of


def write(
    run_dir: Path,
    info: RunInfo,
    *,
    xml: Path | None = None,
    before: Path | None = None,
    judged_by: JudgedBy | None = OURS,
) -> None:
    """Merges the shards of a run and writes its report into its directory.

    The files: `records.parquet`, `observations.parquet`, `errors.parquet`, `error_histogram.parquet`, `index.html`,
    `discrepancies.html`, `discrepancies.csv`, `search.html`, `summary.md`, `badge.svg`, `badge.json`, a page for each
    op in `ops`, and those of `reports.pages.run_pages.extra_pages`.
    Writing again gives the same files.

    Args:
      run_dir: the directory of the run.
      info: its run.json.
      xml: the JUnit XML of pytest, which is finished; by default `junit.xml` of the run, if it exists.
      before: the directory of an earlier run; the page lists the changes since then.
      judged_by: whose known failures the page lists; None for no list.
    """
    with Report(run_dir) as report:
        report.write(info, xml=xml, before=before, judged_by=judged_by)


class Report:
    """The report of a run whose shards are read already.

    Attributes:
      run_dir: the directory of the run.
      records: those of the run.
      ranked: its discrepancies; none before `write`.
    """

    def __init__(self, run_dir: Path) -> None:
        """Reads the shards. Use the object as a context manager: for a large run it has a process of its own.

        Raises:
          ValueError: a shard is malformed.
        """
        self.run_dir = run_dir
        self._op_report = OpReport(run_dir)
        try:
            self.records, self._observations = frame.records(run_dir), frame.observations(run_dir)
        except BaseException:
            self._op_report.stop()
            raise
        give_free_memory_back()
        self.ranked: Sequence[Discrepancy] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._op_report.stop()

    def write(
        self,
        info: RunInfo,
        *,
        xml: Path | None = None,
        before: Path | None = None,
        judged_by: JudgedBy | None = OURS,
        known: Known | None = None,
    ) -> None:
        """Writes the files; see `write`. `known` are the known failures of `judged_by`, if they are read already."""
        run_dir, records = self.run_dir, self.records
        xml = xml or untrusted.inside(run_dir, "junit.xml")
        parquet.write(records, run_dir / RECORDS)
        records = bounded_records(records)
        topics, names = topics_of(run_dir, records, info), op_names(records)
        data = extra_pages.RunData(
            records=records, info=info, topics=topics, overrides=load_overrides(run_dir), spec_links=names.by_spec()
        )
        pages = extra_pages.write(run_dir, data)
        self._op_report.write(info, records, topics)
        parquet.write(self._observations, run_dir / OBSERVATIONS, schema=frame.OBSERVATIONS)
        old, unreadable = _loaded(before) if before else (None, None)
        causes, attributions = load_causes(run_dir), load_attributions(run_dir)
        self.ranked = discrepancies.discrepancies(records, causes, old, attributions)
        files.replace_text(run_dir / "summary.md", markdown.summary(records, info, self.ranked))
        badge.write(run_dir, info, tables.counts(records))
        repros = load_repros(run_dir)
        supplement = run_page.Supplement(
            pages=pages,
            ranked=self.ranked,
            shown=run_overview.shown(records, self.ranked, repros, names),
            names=names,
            spec_links=data.spec_links,
            repros=repros,
            entries=ledger.of_run(records, info, judged_by, known),
            by_plan=plans_at_worst.values(records, self._observations),
            since=_since(before, old, records, info) if before and old is not None else unreadable,
        )
        give_free_memory_back()
        files.replace_text(run_dir / INDEX, run_page.html(records, info, supplement))
        self._write_ways(info, supplement, topics)
        junit.finish(xml, records, info)
        self._op_report.finish()

    def _write_ways(self, info: RunInfo, supplement: run_page.Supplement, topics: Sequence[Chapter]) -> None:
        """Writes the page and the table of all discrepancies, and the page of the search."""
        extra, shown = extra_pages.links(supplement.pages), supplement.shown or ()
        files.replace_text(
            self.run_dir / DISCREPANCIES, discrepancies_page.html(shown, info, Menu(DISCREPANCIES, extra))
        )
        table = discrepancies.table_of(self.ranked).assign(mechanism=[one.mechanism for one in shown])
        files.replace_text(self.run_dir / discrepancies_page.CSV, formats.csv(table))
        index = search_index.entries(supplement.names, self.ranked, topics)
        files.replace_text(self.run_dir / SEARCH, search_page.html(index, info, Menu(SEARCH, extra)))


def rewrite(run: Path, into: Path) -> RunInfo:
    """Copies the data of a run from anywhere into a new folder and writes its report there; returns its run.json.

    See `reports.data.run_data.run_copy.copy` for the files and the errors.
    """
    info = run_copy.copy(run, into)
    write(into, info, judged_by=None if OURS.other(info) else OURS)
    return info


def _loaded(before: Path) -> tuple[pd.DataFrame | None, str | None]:
    """The records of an earlier run; or the reason why they are unreadable, which must not cost this run its report."""
    try:
        return load(before), None
    except (OSError, ValueError) as why:
        return None, str(why)


def _since(before: Path, old: pd.DataFrame, records: pd.DataFrame, info: RunInfo) -> Changelog | str:
    """The changes; or the reason why the earlier run is unreadable."""
    try:
        return since_last_run.since(before, old, records, info)
    except (OSError, ValueError) as why:
        return str(why)
