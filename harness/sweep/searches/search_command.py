"""Search command: the run of `python -m harness sweep --search`, from the selection to the exit status."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.verdicts.verdict import Context
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.cell_lines import CellWriter
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.sweep import progress
from tf_opdiff.harness.sweep.end_sweep import Planned, close
from tf_opdiff.harness.sweep.measurements import tally_rows
from tf_opdiff.harness.sweep.searches import search_rows
from tf_opdiff.harness.sweep.searches.search import Search
from tf_opdiff.harness.sweep.searches.search_oracle import DTYPES, refusal
from tf_opdiff.harness.sweep.selection import labels
from tf_opdiff.harness.sweep.workers import Team


def chosen(catalog: Catalog, ops: Sequence[str], dtypes: Sequence[str]) -> list[Item]:
    """The selected items that a search can run; empty `ops` or `dtypes` select all.

    Raises:
      LookupError: a name is unknown.
      ValueError: a search can run none of the selected items; the message gives the reasons.
    """
    names = {name for op in ops for name in ([op] if op in catalog.specs else catalog.named(op))}
    items = [item for item in catalog.items if not ops or item.spec.name in names]
    items = [item for item in items if item.dtype in (dtypes or DTYPES)]
    reasons = {item.id: refusal(item.spec, item.dtype) for item in items}
    able = [item for item in items if not reasons[item.id]]
    if not able:
        none = f"{', '.join(ops) or 'no spec'} has none of {', '.join(dtypes or DTYPES)}"
        raise ValueError("; ".join(sorted(set(reasons.values()))) or none)
    return able


def makers(options: argparse.Namespace, catalog: Catalog) -> Iterator[Callable[..., Search]]:
    """Makers of the searches that the options select; they take `plans`.

    Raises:
      LookupError: an op, or a label of `attrs`, is unknown.
      ValueError: options of a sweep, or no item that a search can run.
    """
    if options.range or options.every != 1:
        raise ValueError("--search: expected no --range and no --every")
    items = chosen(catalog, options.op, options.dtype)
    for item in items:
        for label in labels(item.spec, options.attrs):
            yield partial(Search, item, descents=options.search, attrs=label)


def run(
    selected: Sequence[Search],
    context: Context,
    teams: Sequence[Team],
    shard: Shard,
    path: Path,
) -> list[Record]:
    """Runs searches, continuing those in the shard at a path; writes their records and the rows of the atlas.

    The first of the teams runs them.
    """
    recorded: list[Record] = []
    servers = teams[0]
    for one in selected:
        one.resume(path)
        try:
            with progress.shown(one.case.id, one.left) as step:
                one.run(servers, shard, step)
            results = one.worst(servers)
            rows = search_rows.records(one, context, results)
            for line in search_rows.searched(one, results):
                shard.write("searched", **line)
        except ReferenceFault as error:
            rows = search_rows.faulty(one, context, str(error))
        tally_rows.write(rows, CellWriter(shard))
        recorded += rows
        for row in rows:
            if row.kind and row.verdict not in ("unavailable", "known"):
                print(sentence(row) + (f"\n  rerun: {row.rerun}" if row.failing else ""), flush=True)
    return recorded


def end(
    directory: Path,
    info: RunInfo,
    selected: Sequence[Search],
    recorded: list[Record],
    status: int,
    write_report: Callable[[Path], None],
) -> int:
    """Accounts for every search and plan, and writes the report; returns the exit status."""
    why = "the search did not end"
    planned: list[Planned] = [((one.case.id, str(p.device), p.mode), why) for one in selected for p in one.plans]
    return close(directory, info, planned, recorded, status, write_report)
