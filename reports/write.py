"""Write: a run's records and observations as files that people and tools read."""

from __future__ import annotations

from pathlib import Path

from harness.record import CLAIM
from harness.rundir import RunInfo, merge
from reports import claims, files, frame, markdown, page, parquet
from reports.load import OBSERVATIONS, RECORDS, load_repros


def write(run_dir: Path, info: RunInfo) -> None:
    """Merges the shards of a run into `records.parquet`, `observations.parquet`, `index.html` and `summary.md`; and,
    where claims were tested, `claims.html`.

    Reads nothing but the shards, so that writing again gives the same files.
    """
    merged = merge([run_dir])
    records = frame.records(merged)
    parquet.write(records, run_dir / RECORDS)
    parquet.write(frame.observations(merged), run_dir / OBSERVATIONS, schema=frame.OBSERVATIONS)
    files.replace_text(run_dir / "summary.md", markdown.summary(records, info))
    told = claims.load(run_dir) if records["against"].astype(str).str.startswith(CLAIM).any() else []
    if told:
        files.replace_text(run_dir / "claims.html", claims.html(records, info, told))
    files.replace_text(run_dir / "index.html", page.html(records, info, claims=bool(told), repros=load_repros(run_dir)))
