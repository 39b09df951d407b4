"""Op report: the tables of errors and the pages of ops, which a process of its own writes for a large run.

Nothing else in a report needs them, and they take nearly half of its time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.records.record import CLAIM
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.companion import Companion, serve
from tf_opdiff.harness.system.memory import give_free_memory_back
from tf_opdiff.reports.analysis.claim_tables.claim_store import stored_verdicts
from tf_opdiff.reports.analysis.claim_tables.claims import Chapter, chapters
from tf_opdiff.reports.analysis.ops import op_store
from tf_opdiff.reports.analysis.ops.error_pictures import ErrorTables
from tf_opdiff.reports.data.causes.discrepancies import discrepancies
from tf_opdiff.reports.data.figures import error_frames
from tf_opdiff.reports.data.figures.errors import ERRORS, HISTOGRAM, load_error_histogram, load_errors
from tf_opdiff.reports.data.names.op_names import op_names
from tf_opdiff.reports.data.run_data import parquet
from tf_opdiff.reports.data.run_data.load import load, load_causes, load_claims, load_kernels, load_repros
from tf_opdiff.reports.pages.op_pages import op_page
from tf_opdiff.reports.pages.run_pages import extra_pages
from tf_opdiff.reports.text.bounded import bounded_records


class OpReport:
    """Writes the tables of errors and the pages of ops of a run: at once, or in another process if the run is large."""

    def __init__(self, run_dir: Path, *, least: int | None = None) -> None:
        self._run_dir = run_dir
        self._companion = Companion(__name__, run_dir) if rundir.is_large(run_dir, least) else None

    def write(self, info: RunInfo, records: pd.DataFrame, topics: Sequence[Chapter]) -> None:
        """Writes the files, or lets the process write them; the records and the extra pages are written already."""
        if self._companion:
            self._companion.ask(json_of(asdict(info)).encode())
        else:
            _write_tables(self._run_dir, error_frames.frames(self._run_dir))
            _write_pages(self._run_dir, info, records, topics)

    def finish(self) -> None:
        """Waits until the files are written.

        Raises:
          OSError: the process could not write them; it has printed why.
        """
        if self._companion:
            self._companion.answer()

    def stop(self) -> None:
        """Ends the process, if there is one that still runs."""
        if self._companion:
            self._companion.stop()


def _write_tables(run_dir: Path, tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    for name, table in zip((ERRORS, HISTOGRAM), tables, strict=True):
        parquet.write(table, run_dir / name)


def _write_pages(run_dir: Path, info: RunInfo, records: pd.DataFrame, topics: Sequence[Chapter]) -> None:
    causes = load_causes(run_dir)
    sources = op_page.OpSources(
        records=records,
        info=info,
        names=op_names(records),
        causes=causes,
        claims=[claim for topic in topics for claim in topic.claims],
        repros=load_repros(run_dir),
        errors=ErrorTables(load_errors(run_dir), load_error_histogram(run_dir)),
        kernels=load_kernels(run_dir),
        stored=op_store.stored_ops(),
        ranked=discrepancies(records, causes),
        extra=extra_pages.links(extra_pages.written(run_dir)),
    )
    op_page.write(run_dir, sources)


def topics_of(run_dir: Path, records: pd.DataFrame, info: RunInfo) -> list[Chapter]:
    """The topics of the claims that a run tested."""
    has_claims = records["against"].astype(str).str.startswith(CLAIM).any()
    claims = load_claims(run_dir) if has_claims else []
    return chapters(records, info, claims, stored_verdicts()) if claims else []


def _prepare(run_dir: Path) -> Callable[[bytes], bytes]:
    tables = error_frames.frames(run_dir)
    give_free_memory_back()

    def write(request: bytes) -> bytes:
        info = untrusted.decode(request, RunInfo, "the request")
        _write_tables(run_dir, tables)
        records = bounded_records(load(run_dir))
        _write_pages(run_dir, info, records, topics_of(run_dir, records, info))
        return b""

    return write


def main() -> None:
    """Reads the shards of the run in `sys.argv[1]`, and writes its files once stdin holds its run.json."""
    serve(_prepare)
