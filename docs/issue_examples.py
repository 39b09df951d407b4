"""Writes the examples of upstream issues: `python -m docs.issue_examples RUN ID…`, of discrepancies of a run."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES
from tf_opdiff.harness.repro.reproduce import Setting, reproduce
from tf_opdiff.harness.run.one_case import issue
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.reports.data.causes.discrepancies import of_run
from tf_opdiff.reports.data.run_data.load import load

PAGE = Path(ROOT, "docs", "explanations", "upstream-issues.md")
_HEAD = """# Upstream issues

`python -m harness repro CASE --plan DEVICE/MODE --issue FILE` writes the text of an issue for TensorFlow: a title, what
is wrong and why, the setting on which it depends, and a program with its output. These are examples, of discrepancies
with TensorFlow {tf}.
"""


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(prog="python -m docs.issue_examples", description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("id", nargs="+")
    options = parser.parse_args()
    catalog, info = Catalog.load(SUITES), RunInfo.load(options.run)
    known = known_files.load(Path(ROOT, KNOWN), catalog)
    records = {one.id: Record(**one.example) for one in of_run(options.run, load(options.run))}
    parts = [_HEAD.format(tf=info.tf)]
    with tempfile.TemporaryDirectory() as folder:
        setting = Setting(catalog=catalog, tf=info.tf, folder=Path(folder))
        for name in options.id:
            (outcome,) = reproduce([records[name]], setting)
            parts.append(f"#{issue(records[name], outcome, known, setting)}")
    PAGE.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
