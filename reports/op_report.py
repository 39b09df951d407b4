"""Op report: the tables of errors and the pages of ops, written beside the rest of a report.

Nothing else in a report needs them, and they take about half of its time. So for a large run a process of its own
writes them, by `main`: it reads the shards at once, and writes when its stdin holds the run's `run.json`, which comes
when `records.parquet` is there.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from subprocess import PIPE, Popen
from types import TracebackType
from typing import Self

import pandas as pd

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.store import rundir, untrusted
from tf_opdiff.harness.store.json_text import json_of
from tf_opdiff.harness.store.record import CLAIM
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.harness.system.terminal import guarded
from tf_opdiff.reports.analysis import op_store
from tf_opdiff.reports.analysis.claim_store import stored_verdicts
from tf_opdiff.reports.analysis.claims import Chapter, chapters
from tf_opdiff.reports.analysis.error_pictures import ErrorTables
from tf_opdiff.reports.data import error_frames, parquet
from tf_opdiff.reports.data.errors import ERRORS, HISTOGRAM, load_error_histogram, load_errors
from tf_opdiff.reports.data.load import load, load_causes, load_claims, load_kernels, load_repros
from tf_opdiff.reports.data.op_names import op_names
from tf_opdiff.reports.pages import op_page

#: Bytes of shards from which on a process of its own writes these files.
LARGE = 32 * untrusted.MIB


class OpReport:
    """Writes the tables of errors and the pages of ops of a run: at once, or beside the caller if the run is large."""

    def __init__(self, run_dir: Path, *, large: int = LARGE) -> None:
        self._run_dir = run_dir
        size = sum(path.stat().st_size for path in rundir.shards(run_dir))
        command = [sys.executable, "-c", f"from {__name__} import main; main()", str(run_dir.resolve())]
        self._process = Popen(command, cwd=ROOT, stdin=PIPE) if size >= large else None

    def __enter__(self) -> Self:
        return self

    def write(self, info: RunInfo, records: pd.DataFrame, topics: Sequence[Chapter]) -> None:
        """Writes the files, or lets the process write them; `records.parquet` has these records already."""
        if self._process is None:
            write_tables(self._run_dir, *error_frames.frames(self._run_dir))
            write_pages(self._run_dir, info, records, topics)
            return
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            stdin.write(json_of(asdict(info)).encode())

    def finish(self) -> None:
        """Waits until the files are written.

        Raises:
          OSError: the process could not write them; it has printed why.
        """
        if self._process and (status := self._process.wait()):
            raise OSError(f"the pages of ops could not be written: their process ended with status {status}")

    def __exit__(self, _: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None) -> None:
        if self._process is None:
            return
        if why:
            self._process.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def write_tables(run_dir: Path, errors: pd.DataFrame, histogram: pd.DataFrame) -> None:
    """Writes `errors.parquet` and `error_histogram.parquet`."""
    parquet.write(errors, run_dir / ERRORS)
    parquet.write(histogram, run_dir / HISTOGRAM)


def write_pages(run_dir: Path, info: RunInfo, records: pd.DataFrame, topics: Sequence[Chapter]) -> None:
    """Writes the pages of ops; the tables of errors are written already."""
    sources = op_page.OpSources(
        records=records,
        info=info,
        names=op_names(records),
        causes=load_causes(run_dir),
        claims=[claim for topic in topics for claim in topic.claims],
        repros=load_repros(run_dir),
        errors=ErrorTables(load_errors(run_dir), load_error_histogram(run_dir)),
        kernels=load_kernels(run_dir),
        stored=op_store.stored_ops(),
    )
    op_page.write(run_dir, sources)


def topics_of(run_dir: Path, records: pd.DataFrame, info: RunInfo) -> list[Chapter]:
    """The topics of the claims that a run tested."""
    has_claims = records["against"].astype(str).str.startswith(CLAIM).any()
    claims = load_claims(run_dir) if has_claims else []
    return chapters(records, info, claims, stored_verdicts()) if claims else []


def main() -> None:
    """Writes the files of the run in `sys.argv[1]` once stdin holds its run.json; ends with status 4 if it can't."""
    run_dir = Path(sys.argv[1])
    with guarded():
        try:
            frames = error_frames.frames(run_dir)
            text = sys.stdin.buffer.read()
            if not text:  # the report was given up
                sys.exit(4)
            info = untrusted.decode(text, RunInfo, "stdin")
            write_tables(run_dir, *frames)
            records = load(run_dir)
            write_pages(run_dir, info, records, topics_of(run_dir, records, info))
        except (LookupError, ValueError, RuntimeError, OSError) as error:
            print(f"pages of ops: {error.args[0] if len(error.args) == 1 else error}", file=sys.stderr)
            sys.exit(4)
