"""Rejudge: judges the observations of a run again, by today's promises, budgets and known failures; no TensorFlow runs.

The new run directory has the observations of the old one with new records, so all reports can be made of it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.known_failures.known import IDLE, IdleEntries, Known
from tf_opdiff.harness.judge.promises.promise_cache import PromiseCache
from tf_opdiff.harness.judge.verdicts.trial import Context, Origin
from tf_opdiff.harness.paths import ROOT, cache_folder
from tf_opdiff.harness.repro.listing import claims_data
from tf_opdiff.harness.run import item_sweeps
from tf_opdiff.harness.run.campaigns import batch
from tf_opdiff.harness.run.exit_status import exit_status
from tf_opdiff.harness.run.sessions import without_onednn
from tf_opdiff.harness.spec.catalog import Catalog, Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.recordings.record_devices import Part
from tf_opdiff.harness.store.recordings.stored_run import StoredDevice
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories import judges, rundir
from tf_opdiff.harness.store.run_directories.judges import JudgedBy
from tf_opdiff.harness.store.run_directories.run_code import RunCode
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.cell_lines import CellWriter
from tf_opdiff.harness.store.shards.merged import Cell
from tf_opdiff.harness.system.file_cache import FileCache

#: The most records that `main` prints.
MOST = 20


def plans(info: RunInfo) -> Iterator[Plan]:
    """The plans of a run, without TensorFlow, recordings or servers."""
    for name, about in info.devices.items():
        if "only" in about:
            yield from without_onednn.plans(info.modes)
        elif about["asked"]:
            yield from (Plan(_device(name, about), mode) for mode in info.modes)


def _device(name: str, about: Mapping[str, Any]) -> Device:
    """A device by its name and its facts in run.json."""
    if "recorded" in about:
        return replace(Device.parse(about["device"]), recorded=name)
    return Device.parse(name, [about["server"]] if "server" in about else ())


def rejudge(run: Part, items: Sequence[Item], known: Known, directory: Path) -> list[Record]:
    """Judges the observations of items again; writes them with the new records to a run directory.

    Cells without an observation in the run get no record if their item has none under the plan. Kernels that a list of
    maturity excused in the run are not excused here.

    Args:
      run: the run with the observations.
      items: the items of the suites to judge.
      known: today's known failures.
      directory: an empty run directory.
    """
    info, lines = run.info, run.merged.results
    elsewhere = {
        name: Origin(about["tensorflow"], about["cuda"], about["host"])
        for name, about in info.devices.items()
        if "server" in about or "recorded" in about
    }
    here = Origin(info.tf, info.cuda, info.host)
    context = Context(run=directory.resolve().name, started=info.started, here=here, known=known, elsewhere=elsewhere)
    every = list(plans(info))
    cases = CaseRunner(
        context,
        every,
        stored={plan.device: StoredDevice(str(plan.device), lines) for plan in every},
        only={case for case, *_ in lines},
        cache=PromiseCache(FileCache(cache_folder() / "promises"), batch.code_digest(info.suites)),
    )
    records: list[Record] = []
    with closing(rundir.open_shard(directory, "rejudged")) as shard:
        shard.write("plan", items=[item.id for item in items])
        for item in items:
            writer, cases.plans = CellWriter(shard), [plan for plan in every if _ran(item, plan, lines)]
            cases.run(item, writer)
            item_sweeps.run(cases, item, shard, writer)
            records += writer.records
    assert cases.cache is not None
    cases.cache.flush()
    return records


def _ran(item: Item, plan: Plan, lines: Mapping[Cell, Any]) -> bool:
    """Whether a run has a result of an item under a plan."""
    return any((case.id, str(plan.device), plan.mode) in lines for case in (*item.cases, *item.sweeps))


def changes(before: Sequence[Record], after: Sequence[Record]) -> Counter[tuple[str, str]]:
    """The number of records whose verdict changed, by both verdicts; an absent record has an empty one."""

    def by_place(records: Sequence[Record]) -> dict[tuple[str, ...], str]:
        return {(r.case, r.device, r.mode, r.against, r.quantity): r.verdict for r in records}

    was, now = by_place(before), by_place(after)
    pairs = ((was.get(place, ""), now.get(place, "")) for place in was | now)
    return Counter(pair for pair in pairs if pair[0] != pair[1])


def _save(run: Part, catalog: Catalog, known: Known, records: Sequence[Record], directory: Path) -> int:
    """Writes the facts of the new run; returns its exit status."""
    idle = IdleEntries(known)
    for record in records:
        idle.visit(record)
    info = replace(run.info, run=directory.resolve().name, arguments=["rejudge", str(run.directory)])
    info.faults = [*(fault for fault in info.faults if not fault.endswith(IDLE)), *idle.lines()]
    failing = any(record.failing for record in records)
    at_fault = bool(info.faults or info.not_run) or any(record.verdict == "error" for record in records)
    info.exit_status = exit_status(int(failing), at_fault)
    claims = claims_data(catalog, hashes=any(spec.claims for spec in catalog.specs.values()))
    causes = [msgspec.to_builtins(cause) for cause in known.causes.values()]
    RunCode.present(info.suites, info.known).save(directory)
    (directory / "claims.json").write_text(json_of(claims, indent=1))
    (directory / "causes.json").write_text(json_of(causes, indent=1))
    info.save(directory)
    return info.exit_status


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m harness rejudge`."""
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a run")
    parser.add_argument("--op", action="append", default=[], metavar="OP", help="a spec, a family or an OpDef name")
    parser.add_argument("--run-dir", type=Path, metavar="DIR", help="the new run; default: a new one under runs/")
    judges.add_options(parser)


def main(options: argparse.Namespace) -> int:
    """Judges the observations of a run again; prints changes of verdicts; exits with the status of a run."""
    run = Part.read(options.run)
    by = JudgedBy(options.suites, options.known)
    if other := by.other(run.info):
        raise ValueError(other)
    run.info.suites, run.info.known = by.suites, by.known
    catalog = Catalog.load(by.suites)
    known = known_files.load(ROOT / by.known, catalog).on(run.info.devices)
    observed = {case for case, *_ in run.merged.results}
    selected = catalog.select(tier="full", ops=options.op)
    items = [item for item in selected if observed & {case.id for case in (*item.cases, *item.sweeps)}]
    directory = rundir.create(ROOT / "runs", chosen=options.run_dir)
    records = rejudge(run, items, known, directory)
    status = _save(run, catalog, known, records, directory)
    judged = {case.id for item in items for case in (*item.cases, *item.sweeps)}
    changed = changes([record for record in run.merged.records if record.case in judged], records)
    failing = [record for record in records if record.failing]
    print(
        f"{directory}: {len(records):,} records of {len(items):,} items, {sum(changed.values()):,} with a new verdict"
    )
    for (before, after), count in changed.most_common():
        print(f"  {before or 'no record'} → {after or 'no record'}: {count:,}")
    for record in failing[:MOST]:
        print(sentence(record))
    if len(failing) > MOST:
        print(f"{len(failing) - MOST:,} more records fail")
    return status
