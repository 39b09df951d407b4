"""Write: a run's records and observations as files that people and tools read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from harness import untrusted
from harness.judged import OURS, JudgedBy
from harness.record import CLAIM
from harness.rundir import RunInfo
from reports import badge, beside, claims, files, frame, junit, ledger, markdown, page, parquet, since, tables
from reports.changelog import Changelog
from reports.load import OBSERVATIONS, RECORDS, load_claims, load_repros


def write(
    run_dir: Path,
    info: RunInfo,
    *,
    xml: Path | None = None,
    before: Path | None = None,
    judged_by: JudgedBy | None = OURS,
) -> None:
    """Merges the shards of a run into `records.parquet`, `observations.parquet`, `index.html`, `summary.md`, and
    `badge.svg` and `badge.json`; and, where claims were tested, `claims.html`.

    Reads nothing but what the run left, and the one in the directory `before`, since which the page tells what changed;
    so writing again gives the same files. The JUnit XML that pytest has written is finished: `xml`, or `junit.xml` of
    the run. `judged_by` says whose entries of known.toml the page shows; none without it.
    """
    xml = xml or untrusted.inside(run_dir, "junit.xml")
    records = frame.records(run_dir)
    parquet.write(records, run_dir / RECORDS)
    observations = frame.observations(run_dir)
    parquet.write(observations, run_dir / OBSERVATIONS, schema=frame.OBSERVATIONS)
    files.replace_text(run_dir / "summary.md", markdown.summary(records, info))
    badge.write(run_dir, info, tables.counts(records))
    told = load_claims(run_dir) if records["against"].astype(str).str.startswith(CLAIM).any() else []
    if told:
        files.replace_text(run_dir / "claims.html", claims.html(records, info, told))
    repros, entries = load_repros(run_dir), ledger.of_run(records, info, judged_by)
    gave = beside.values(records, observations)
    news = _since(before, records, info) if before else None
    index = page.html(records, info, claims=bool(told), repros=repros, entries=entries, beside=gave, since=news)
    files.replace_text(run_dir / "index.html", index)
    junit.finish(xml, records, info)


def _since(before: Path, records: pd.DataFrame, info: RunInfo) -> Changelog | str:
    """What changed; or why the earlier run can't be read, which must not cost this one its report."""
    try:
        return since.since(before, records, info)
    except (OSError, ValueError) as why:
        return str(why)
