"""Switches: the verb that finds the settings of TensorFlow on which the discrepancies of a run depend."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.repro.reproduce import Setting
from tf_opdiff.harness.repro.trials.attribute import attribute
from tf_opdiff.harness.repro.trials.attribution import Attribution
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.system.number_argument import SECONDS
from tf_opdiff.harness.system.progress import Progress
from tf_opdiff.reports.data.causes.discrepancies import of_run
from tf_opdiff.reports.data.causes.discrepancy import Discrepancy
from tf_opdiff.reports.data.run_data import files
from tf_opdiff.reports.data.run_data.load import SWITCHES, load, load_attributions
from tf_opdiff.reports.text.lines import plain
from tf_opdiff.reports.text.sentences import switch_words


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness switches`."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the directory of a run, such as runs/latest")
    parser.add_argument(
        "--id",
        action="append",
        default=[],
        metavar="ID",
        help="a discrepancy, by its id in the table `discrepancies`; default: all in which plans disagree",
    )
    seconds = "seconds until a program counts as hung; default: 60"
    parser.add_argument("--op-timeout", type=SECONDS, default=60.0, metavar="S", help=seconds)
    parser.add_argument("--suites", default=SUITES, help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> int:
    """Runs the programs of discrepancies with and without settings, and rewrites the report of the run. Returns 0.

    Raises:
      LookupError: the run has no such discrepancy.
      OSError: RUN is not the directory of a run.
      ValueError: RUN contains a link, or a damaged file.
      RuntimeError: the report can't be written.
    """
    run = options.run
    info = RunInfo.load(untrusted.without_links(run))
    chosen = _chosen(of_run(run, load(run)), options.id)
    setting = Setting(
        catalog=Catalog.load(options.suites), tf=info.tf, folder=run / "switches", timeout=options.op_timeout
    )
    progress = Progress(lambda line: print(line, flush=True))
    attributions = attribute({one.id: _record(one.example) for one in chosen}, setting, progress)
    stored = load_attributions(run) | {one.id: one for one in attributions}
    files.replace_text(run / SWITCHES, json_of([vars(one) for one in stored.values()], indent=1))
    for line in _lines(chosen, attributions):
        print(plain(line, 300))
    options.write_report(run)
    return 0


def _chosen(ranked: Sequence[Discrepancy], ids: Sequence[str]) -> list[Discrepancy]:
    """The discrepancies with these ids, or those in which plans disagree; none that a fault of the suite made."""
    if absent := sorted({*ids} - {one.id for one in ranked}):
        raise LookupError(f"the run has no discrepancy {absent[0]!r}; `table discrepancies RUN` lists the ids")
    return [one for one in ranked if (one.id in ids if ids else one.disagree) and one.verdict in ("known", "mismatch")]


def _record(row: Any) -> Record:
    return Record(**{field.name: row[field.name] for field in fields(Record)})


def _lines(chosen: Sequence[Discrepancy], attributions: Sequence[Attribution]) -> list[str]:
    """A line for each discrepancy, and one with the numbers of those that depend on each setting."""
    titles = {one.id: one.title for one in chosen}
    lines = [f"{switch_words.short(one.switch)}: {titles[one.id]} ({one.id})" for one in attributions]
    counts = Counter(switch_words.short(one.switch) for one in attributions)
    return [*lines, f"{len(attributions)} discrepancies: " + ", ".join(f"{n} {s}" for s, n in counts.most_common())]
