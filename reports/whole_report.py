"""Whole report: writes the report of a run, and returns its summary; for a large run, in a process of its own.

Then the pytest process stays small, and the shards are read while it counts cells.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.run_directories.judges import JudgedBy
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.companion import serve
from tf_opdiff.reports.analysis.comparisons.since_last_run import earlier
from tf_opdiff.reports.ci.github import annotated, summarise_or_say_why
from tf_opdiff.reports.data.run_data.load import load_repros
from tf_opdiff.reports.pages.template import environment
from tf_opdiff.reports.text.sentences.summary import terminal
from tf_opdiff.reports.write import Report

#: The first letters of the names of the templates that every run's report needs.
_TEMPLATES = ("index", "op", "head", "badge")


def warm_up() -> None:
    """Compiles the templates of a report; this module's import has imported everything else."""
    for name in environment().list_templates(extensions=["html", "svg"]):
        if name.startswith(_TEMPLATES):
            environment().get_template(name)


def summarised(
    report: Report, info: RunInfo, *, xml: Path | None, judged_by: JudgedBy, known: Known | None = None
) -> list[str]:
    """Writes a report, and returns the last lines of the terminal's output; see `Report.write`."""
    run_dir = report.run_dir
    report.write(info, xml=xml, before=earlier(run_dir, info), judged_by=judged_by, known=known)
    summarise_or_say_why(run_dir / "summary.md", os.environ)
    lines = terminal(report.records, info, report.ranked, run_dir, load_repros(run_dir))
    return lines + annotated(info, report.ranked, os.environ)


class Request(msgspec.Struct):
    """The request to `main`: run.json, the path of pytest's JUnit XML, and whose known failures the page lists."""

    info: RunInfo
    xml: str
    suites: str
    known: str


def _prepare(run_dir: Path) -> Callable[[bytes], bytes]:
    report = Report(run_dir)

    def write(data: bytes) -> bytes:
        request: Request = untrusted.decode(data, Request, "the request")
        judged_by = JudgedBy(request.suites, request.known)
        with report:
            lines = summarised(
                report, request.info, xml=Path(request.xml) if request.xml else None, judged_by=judged_by
            )
        return json_of(lines).encode()

    return write


def main() -> None:
    """Reads the shards of the run in `sys.argv[1]`, and writes its report once stdin holds a request."""
    serve(_prepare)
