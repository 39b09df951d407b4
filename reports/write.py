"""Write: a run's records and observations as files that people and tools read."""

from __future__ import annotations

from pathlib import Path

from harness.record import CLAIM
from harness.rundir import RunInfo
from reports import badge, claims, files, frame, junit, ledger, markdown, page, parquet, tables
from reports.load import OBSERVATIONS, RECORDS, load_claims, load_repros


def write(run_dir: Path, info: RunInfo, *, xml: Path | None = None) -> None:
    """Merges the shards of a run into `records.parquet`, `observations.parquet`, `index.html`, `summary.md`, and
    `badge.svg` and `badge.json`; and, where claims were tested, `claims.html`.

    Reads nothing but what the run left, so that writing again gives the same files. The JUnit XML that pytest has
    written is finished: `xml`, or `junit.xml` of the run.
    """
    records = frame.records(run_dir)
    parquet.write(records, run_dir / RECORDS)
    parquet.write(frame.observations(run_dir), run_dir / OBSERVATIONS, schema=frame.OBSERVATIONS)
    files.replace_text(run_dir / "summary.md", markdown.summary(records, info))
    badge.write(run_dir, info, tables.counts(records))
    told = load_claims(run_dir) if records["against"].astype(str).str.startswith(CLAIM).any() else []
    if told:
        files.replace_text(run_dir / "claims.html", claims.html(records, info, told))
    repros, entries = load_repros(run_dir), ledger.of_run(records, info)
    index = page.html(records, info, claims=bool(told), repros=repros, entries=entries)
    files.replace_text(run_dir / "index.html", index)
    junit.finish(xml or run_dir / "junit.xml", records, info)
