"""Sweep command: the options of `python -m harness sweep`, and its run from start to exit status."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tf_opdiff.harness.device.processes.server_handle import DeviceServer, memory_limit
from tf_opdiff.harness.judge.differences.wording import sentence
from tf_opdiff.harness.judge.known_failures import known_files
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.judge.verdicts.verdict import Context, Origin
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.store.formats import untrusted
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.open_run import open_run
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.cell_lines import CellWriter
from tf_opdiff.harness.store.shards.merged import Cell
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.sweep import progress, workers
from tf_opdiff.harness.sweep.end_sweep import end
from tf_opdiff.harness.sweep.measurements import allocator, tally_rows
from tf_opdiff.harness.sweep.measurements.pieces import DTYPES
from tf_opdiff.harness.sweep.searches import search_command, search_oracle
from tf_opdiff.harness.sweep.selection import chosen, labels, span
from tf_opdiff.harness.sweep.sweep import Sweep
from tf_opdiff.harness.system.number_argument import SECONDS, Number

#: Limits of options: a float32 has 2**32 bit patterns.
EVERY, WORKERS, DESCENTS = Number("bit patterns", 1, 2**32), Number("threads", 1, 1024), Number("descents", 1, 10**6)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `python -m harness sweep`."""
    parser.add_argument("op", metavar="OP", nargs="*", help="a spec, a family or an OpDef name")
    parser.add_argument("--all", action="store_true", help="sweep every spec that can be swept")
    choices = sorted({*DTYPES, *search_oracle.DTYPES})
    parser.add_argument("--dtype", action="append", default=[], choices=choices, help="default: all of the spec")
    parser.add_argument(
        "--attrs", action="append", default=[], metavar="LABEL", help="a label of the spec's attrs; default: all"
    )
    parser.add_argument("--device", action="append", default=[], metavar="D", help="default: all present")
    parser.add_argument("--mode", action="append", default=[], choices=MODES, help="default: all")
    parser.add_argument("--range", metavar="LO:HI", help="bit patterns, without HI, such as 0x3f800000:0x40000000")
    parser.add_argument(
        "--every", type=EVERY, default=1, metavar="N", help="a sample: only bit patterns that are multiples of N"
    )
    parser.add_argument(
        "--workers",
        type=WORKERS,
        default=0,
        metavar="N",
        help="threads that share the blocks, each with its own servers; default: one for each core if all devices are"
        " CPUs, else 1",
    )
    parser.add_argument(
        "--search",
        type=DESCENTS,
        default=0,
        metavar="N",
        help="in place of a sweep, search for the largest errors in float32 and float64, in N descents",
    )
    parser.add_argument("--run-dir", metavar="DIR", help="a new folder, or an interrupted sweep to continue")
    parser.add_argument(
        "--op-timeout",
        type=SECONDS,
        default=120.0,
        metavar="S",
        help="seconds until a block counts as hung; default: 120",
    )
    parser.add_argument("--suites", default=SUITES, help=argparse.SUPPRESS)
    parser.add_argument("--known", default=KNOWN, help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> int:
    """Runs specs on every bit pattern; returns 0, 1 if a result differs, 2 if interrupted, 3 if the suite is at fault.

    Raises:
      ValueError: neither names of ops nor `--all`, or both.
    """
    allocator.keep()
    catalog = Catalog.load(options.suites)
    if bool(options.op) == options.all:
        raise ValueError("expected either OP, once or more, or --all")
    parts: Any = search_command if options.search else _SWEEPS
    makers = list(parts.makers(options, catalog))
    expected = known_files.load(ROOT / options.known, catalog)
    requested = [Device.parse(d) for d in options.device]
    directory, info = _opened(options, requested)
    devices = [Device.parse(d) for d, about in info.devices.items() if about["asked"]]
    info.modes, info.state, info.exit_status, info.ended = options.mode or list(MODES), "running", None, ""
    info.tier = "full"
    plans = [Plan(d, m) for d in devices for m in info.modes]
    selected = [make(plans=plans) for make in makers]
    info.save(directory)
    logs = directory / "logs"
    logs.mkdir(exist_ok=True)
    shard = Shard(directory / "shards" / "sweep.jsonl")
    teams = _teams(devices, options.workers, logs, options.op_timeout)
    here = Origin(info.tf, info.cuda, info.host)
    context = Context(run=info.run, started=info.started, here=here, known=expected.on(info.devices))
    status, recorded = 0, []
    try:
        recorded = parts.run(selected, context, teams, shard, directory / "shards" / "sweep.jsonl")
    except KeyboardInterrupt:
        status = 2
    finally:
        for server in chain.from_iterable(team.values() for team in teams):
            server.stop()
        shard.close()
    exit_status: int = parts.end(directory, info, selected, recorded, status, options.write_report)
    return exit_status


def _makers(options: argparse.Namespace, catalog: Catalog) -> Iterator[Callable[..., Sweep]]:
    """Makers of the sweeps that the options select; they take `plans`.

    Raises:
      LookupError: an op, or a label of `attrs`, is unknown.
      ValueError: a sweep can run none of the selected items, or not over the range.
    """
    for item in chosen(catalog, options.op, options.dtype):
        lo, hi = span(options.range, item.dtype)
        for label in labels(item.spec, options.attrs):
            yield partial(Sweep, item, lo=lo, hi=hi, attrs=label, step=options.every)


def _run(
    sweeps: Sequence[Sweep], context: Context, teams: Sequence[workers.Team], shard: Shard, path: Path
) -> list[Record]:
    """Runs sweeps, continuing those in the shard at a path; writes and returns their records."""
    recorded: list[Record] = []
    for one in sweeps:
        one.resume(path)
        try:
            with progress.shown(one.item.id, one.left) as step:
                workers.run(one, teams, shard, step)
        except ReferenceFault as error:
            recorded += _written(tally_rows.faulty(one, context, str(error)), shard)
            continue
        recorded += _record(one, context, shard)
    return recorded


#: The parts of a run of sweeps; `harness.sweep.searches.search_command` has those of searches.
_SWEEPS = SimpleNamespace(makers=_makers, run=_run, end=end)


def _teams(devices: Sequence[Device], count: int, logs: Path, timeout: float) -> list[workers.Team]:
    """The device servers of each worker; 0 as `count` is one for each core if all devices are CPUs, else 1."""
    count = count or (1 if any(d.type != "cpu" for d in devices) else len(os.sched_getaffinity(0)))
    memory = {d: memory_limit(d, count) for d in devices}
    return [{d: DeviceServer(d, logs, timeout=timeout, memory=memory[d]) for d in devices} for _ in range(count)]


def _opened(options: argparse.Namespace, requested: Sequence[Device]) -> tuple[Path, RunInfo]:
    """Opens a new run directory, or that of an interrupted sweep with the same arguments.

    Raises:
      ValueError: the directory holds a run with other arguments.
    """
    narrowed = [*options.dtype, *options.attrs, *options.device, *options.mode, options.range or ""]
    narrowed += [f"every {options.every}"] if options.every > 1 else []
    narrowed += [f"search {options.search}"] if options.search else []
    arguments = [*(options.op or ["--all"]), *narrowed]
    if options.run_dir and (Path(options.run_dir) / "run.json").exists():
        directory = Path(options.run_dir)
        info = RunInfo.load(untrusted.without_links(directory))
        if info.arguments != arguments:
            raise ValueError(f"{directory} holds another run: {' '.join(info.arguments)}")
        return directory, info
    directory, info = open_run(requested, options.run_dir)
    info.arguments = arguments
    return directory, info


def _record(sweep: Sweep, context: Context, shard: Shard) -> list[Record]:
    """Writes the records of a finished sweep; prints its unexpected results and its missing kernels."""
    cells = {c: tally_rows.records(sweep, context, *c) for c in tally_rows.cells(sweep)}
    written = _written([row for rows in cells.values() for row in rows], shard, tally_rows.profiles(sweep))
    lacking = {row.detail.partition(":")[0]: None for row in written if row.verdict == "unavailable"}
    for text in lacking:
        print(f"unavailable: {sweep.item.id}: {text}")
    return written


def _written(rows: list[Record], shard: Shard, errors: Mapping[Cell, Mapping[str, Any]] | None = None) -> list[Record]:
    """Writes records and error profiles to the shard; prints a sentence and a command for each unexpected record."""
    tally_rows.write(rows, CellWriter(shard), errors=errors)
    for row in rows:
        if row.kind and row.verdict not in ("unavailable", "known"):
            print(sentence(row) + (f"\n  rerun: {row.rerun}" if row.failing else ""), flush=True)
    return rows
