"""Write: the records, observations and report of a run as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.store import untrusted
from tf_opdiff.harness.store.judges import OURS, JudgedBy
from tf_opdiff.harness.store.record import CLAIM
from tf_opdiff.harness.store.run_info import RunInfo
from tf_opdiff.reports.analysis import ledger, op_store, plans_at_worst, since_last_run
from tf_opdiff.reports.analysis.changelog import Changelog
from tf_opdiff.reports.analysis.claim_store import stored_verdicts
from tf_opdiff.reports.analysis.claims import Chapter, chapters
from tf_opdiff.reports.analysis.error_pictures import ErrorTables
from tf_opdiff.reports.ci import badge, junit
from tf_opdiff.reports.data import discrepancies, error_frames, files, frame, parquet, run_copy, tables
from tf_opdiff.reports.data.errors import ERRORS, HISTOGRAM, load_error_histogram, load_errors
from tf_opdiff.reports.data.load import OBSERVATIONS, RECORDS, load_causes, load_claims, load_kernels, load_repros
from tf_opdiff.reports.data.op_names import OpNames, op_names
from tf_opdiff.reports.pages import claims_page, op_page, run_page
from tf_opdiff.reports.text import markdown


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
    `summary.md`, `badge.svg`, `badge.json`, a page for each op in `ops`, and, if claims were tested, `claims.html`.
    Writing again gives the same files.

    Args:
      run_dir: the directory of the run.
      info: its run.json.
      xml: the JUnit XML of pytest, which is finished; by default `junit.xml` of the run, if it exists.
      before: the directory of an earlier run; the page lists the changes since then.
      judged_by: whose known failures the page lists; None for no list.
    """
    xml = xml or untrusted.inside(run_dir, "junit.xml")
    records, observations = frame.records(run_dir), frame.observations(run_dir)
    parquet.write(records, run_dir / RECORDS)
    parquet.write(observations, run_dir / OBSERVATIONS, schema=frame.OBSERVATIONS)
    for name, errors in zip((ERRORS, HISTOGRAM), error_frames.frames(run_dir), strict=True):
        parquet.write(errors, run_dir / name)
    ranked = discrepancies.of_run(run_dir, records, before=before)
    files.replace_text(run_dir / "summary.md", markdown.summary(records, info, ranked))
    badge.write(run_dir, info, tables.counts(records))
    has_claims = records["against"].astype(str).str.startswith(CLAIM).any()
    claims = load_claims(run_dir) if has_claims else []
    topics = chapters(records, info, claims, stored_verdicts()) if claims else []
    if topics:
        files.replace_text(run_dir / "claims.html", claims_page.page(topics, info))
    names = op_names(records)
    op_sources = _op_sources(run_dir, records, info, names, topics)
    supplement = run_page.Supplement(
        claims=bool(topics),
        ranked=ranked,
        op_links={name: page.link for name, page in names.ops.items()},
        spec_links=names.by_spec(),
        repros=op_sources.repros,
        entries=ledger.of_run(records, info, judged_by),
        by_plan=plans_at_worst.values(records, observations),
        since=_since(before, records, info) if before else None,
    )
    files.replace_text(run_dir / "index.html", run_page.html(records, info, supplement))
    op_page.write(run_dir, op_sources)
    junit.finish(xml, records, info)


def rewrite(run: Path, into: Path) -> RunInfo:
    """Copies the data of a run from anywhere into a new folder and writes its report there; returns its run.json.

    See `reports.data.run_copy.copy` for the files and the errors.
    """
    info = run_copy.copy(run, into)
    write(into, info, judged_by=None if OURS.other(info) else OURS)
    return info


def _op_sources(
    run_dir: Path, records: pd.DataFrame, info: RunInfo, names: OpNames, topics: Sequence[Chapter]
) -> op_page.OpSources:
    return op_page.OpSources(
        records=records,
        info=info,
        names=names,
        causes=load_causes(run_dir),
        claims=[claim for topic in topics for claim in topic.claims],
        repros=load_repros(run_dir),
        errors=ErrorTables(load_errors(run_dir), load_error_histogram(run_dir)),
        kernels=load_kernels(run_dir),
        stored=op_store.stored_ops(),
    )


def _since(before: Path, records: pd.DataFrame, info: RunInfo) -> Changelog | str:
    """The changes; or the reason why the earlier run is unreadable, which must not cost this run its report."""
    try:
        return since_last_run.since(before, records, info)
    except (OSError, ValueError) as why:
        return str(why)
