"""Coverage: the verb that says which raw ops runs have covered, and what is missing for the others."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from tf_opdiff.harness.paths import ROOT, SUITES
from tf_opdiff.harness.spec import public_api
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.lists import spec_list
from tf_opdiff.harness.spec.lists.options import Options
from tf_opdiff.harness.spec.lists.raw_ops import RawOps
from tf_opdiff.harness.spec.similar import unknown
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.reports.analysis.ops import coverage_lines
from tf_opdiff.reports.analysis.ops.covered_ops import coverages, totals
from tf_opdiff.reports.analysis.ops.op_coverage import OpCoverage
from tf_opdiff.reports.data.figures.tested_inputs import outputs_of
from tf_opdiff.reports.data.run_data import files
from tf_opdiff.reports.data.run_data.load import load, load_observations
from tf_opdiff.reports.pages.run_pages import coverage_page

LATEST = ROOT / "runs" / "latest"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `python -m harness coverage`."""
    names = "an op or a family: print a line for it; without names, the totals"
    parser.add_argument("name", nargs="*", metavar="NAME", help=names)
    run = "the directory of a run; may be repeated; default: runs/latest"
    parser.add_argument("--run", type=Path, action="append", metavar="DIR", help=run)
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page with a map of the families")
    parser.add_argument("--suites", default=SUITES, metavar="MODULE", help=f"default: {SUITES}")
    wanted = "print the ops, dtypes, modes and cases of every spec, whatever ran"
    parser.add_argument("--specs", action="store_true", help=wanted)
    parser.add_argument("--to-do", action="store_true", help="print the ops that no spec names, whatever ran")
    uncalled = "print the public functions that no spec calls in some mode, without a reason, whatever ran"
    parser.add_argument("--api", action="store_true", help=uncalled)


def main(options: argparse.Namespace) -> int:
    """Prints the coverage of the raw ops by runs, or lists specs or ops; returns 0.

    Raises:
      LookupError: a name is neither an op nor a family.
      ValueError: a file of a run is damaged.
      OSError: a run is no run's directory, or FILE can't be written.
    """
    catalog, raw_ops = Catalog.load(options.suites), RawOps.load()
    if options.specs:
        files.show("\n".join(spec_list.lines(catalog)) + "\n")
        return 0
    if options.to_do:
        files.show("".join(f"{op}\n" for op in raw_ops.unnamed(catalog)))
        return 0
    if options.api:
        files.show("".join(f"{function.name}\n" for function in public_api.functions(catalog) if function.missing))
        return 0
    names = [family for name in options.name for family in _ops(name, raw_ops)]
    runs = options.run or [LATEST]
    records = pd.concat([load(run) for run in runs], ignore_index=True)
    outputs = {case: arrays for run in runs for case, arrays in outputs_of(load_observations(run)).items()}
    listed = coverages(raw_ops, records, catalog, outputs, Options.load())
    if options.html:
        files.replace_text(options.html, coverage_page.html(raw_ops, listed, [run.resolve().name for run in runs]))
    if options.json:
        table = totals(raw_ops, listed).to_dict("records")
        rows = [coverage.row() for coverage in listed]
        files.show(json_of({"tensorflow": raw_ops.tensorflow, "totals": table, "ops": rows}) + "\n")
    else:
        files.show("\n".join(_lines(raw_ops, listed, names)) + "\n")
    return 0


def _ops(name: str, raw_ops: RawOps) -> list[str]:
    """The ops that a name stands for: itself, or those of a family.

    Raises:
      LookupError: it is neither.
    """
    if name in raw_ops.ops:
        return [name]
    if name not in raw_ops.titles:
        raise LookupError(unknown("op or family", name, {*raw_ops.ops, *raw_ops.titles}))
    return [op.name for op in raw_ops.ops.values() if op.family == name]


def _lines(raw_ops: RawOps, listed: Sequence[OpCoverage], names: Sequence[str]) -> Iterator[str]:
    """A line for each named op; the totals by family without names."""
    if names:
        yield from (coverage_lines.line(coverage) for coverage in listed if coverage.op.name in names)
    else:
        yield from coverage_lines.overview(raw_ops, totals(raw_ops, listed))
