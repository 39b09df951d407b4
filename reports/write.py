"""Write: a run's records and observations as files that people and tools read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.store import rundir, untrusted
from tf_opdiff.harness.store.judges import OURS, JudgedBy
from tf_opdiff.harness.store.record import CLAIM
from tf_opdiff.harness.store.rundir import RunInfo
from tf_opdiff.reports.analysis import ledger, plans_at_worst, since_last_run
from tf_opdiff.reports.analysis.changelog import Changelog
from tf_opdiff.reports.ci import badge, junit
from tf_opdiff.reports.data import files, frame, parquet, tables
from tf_opdiff.reports.data.load import OBSERVATIONS, RECORDS, SCRIPT, load_claims, load_repros
from tf_opdiff.reports.pages import claims_page, run_page
from tf_opdiff.reports.text import markdown


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
    the run. `judged_by` says whose known failures the page lists; none without it.
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
        files.replace_text(run_dir / "claims.html", claims_page.html(records, info, told))
    supplement = run_page.Supplement(
        claims=bool(told),
        repros=load_repros(run_dir),
        entries=ledger.of_run(records, info, judged_by),
        beside=plans_at_worst.values(records, observations),
        since=_since(before, records, info) if before else None,
    )
    files.replace_text(run_dir / "index.html", run_page.html(records, info, supplement))
    junit.finish(xml, records, info)


def rewrite(run: Path, into: Path) -> RunInfo:
    """Copies the data of a run from anywhere into a new folder and writes the report there; returns what the run says
    of itself.

    The data are `run.json`, the shards, `claims.json`, `repro.json` and the programs of findings. Every other file of
    the run, its own pages among them, and every link stays behind.

    Raises:
      FileNotFoundError: `run` is not the directory of a run, or has no shards.
      FileExistsError: `into` holds a run already.
      ValueError: a file is a link, too large, damaged or of another format.
      OSError: a file can't be read or written.
    """
    shards = rundir.shards(run)
    if not shards:
        raise FileNotFoundError(f"{run}: expected a run with shards, got none")
    for path in shards:
        _copy(path, into / "shards" / path.name, untrusted.ANY)
    for name in ("run.json", "claims.json", "repro.json"):
        if (path := untrusted.inside(run, name)).exists():
            _copy(path, into / name, untrusted.TEXT)
    for name in {repro["script"] for repro in load_repros(into) if SCRIPT.fullmatch(repro["script"])}:
        if (path := untrusted.inside(run, name)).exists():
            _copy(path, into / name, untrusted.TEXT)
    info = RunInfo.load(into)
    write(into, info, judged_by=None if OURS.other(info) else OURS)
    return info


def _copy(path: Path, into: Path, most: int) -> None:
    into.parent.mkdir(parents=True, exist_ok=True)
    with untrusted.opened(path, most) as source, into.open("xb") as target:
        shutil.copyfileobj(source, target)


def _since(before: Path, records: pd.DataFrame, info: RunInfo) -> Changelog | str:
    """What changed; or why the earlier run can't be read, which must not cost this one its report."""
    try:
        return since_last_run.since(before, records, info)
    except (OSError, ValueError) as why:
        return str(why)
