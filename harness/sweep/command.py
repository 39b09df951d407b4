"""Command: `python -m harness sweep`: what is asked for, and how it ends."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness import known, rundir
from harness.catalog import Catalog, Item
from harness.devices import ROOT, DeviceServer
from harness.expect import ReferenceFault
from harness.opening import open_run
from harness.plan import MODES, Device, Plan
from harness.record import Record, Shard
from harness.session import memory_limit
from harness.sweep import heap, outcome, plot, progress
from harness.sweep.oracle import refusal
from harness.sweep.pieces import DTYPES, NORMAL, SUBNORMAL, patterns, pieces
from harness.sweep.sweep import Sweep
from harness.verdict import Context, sentence


def add_options(parser: argparse.ArgumentParser) -> None:
    """What the verb understands."""
    parser.add_argument("op", metavar="OP", help="a spec, a family or an OpDef name")
    parser.add_argument("--dtype", action="append", default=[], choices=DTYPES, help="default: all that it promises")
    parser.add_argument("--device", action="append", default=[], metavar="D", help="default: all there are")
    parser.add_argument("--mode", action="append", default=[], choices=MODES, help="default: all")
    parser.add_argument("--range", metavar="LO:HI", help="bit patterns, HI excluded, such as 0x3f800000:0x40000000")
    parser.add_argument("--run-dir", metavar="DIR", help="a new one, or that of an interrupted sweep, which goes on")
    parser.add_argument("--op-timeout", type=float, default=120.0, metavar="S", help="seconds for a block")
    parser.add_argument("--suites", default="suites", help=argparse.SUPPRESS)
    parser.add_argument("--known", default="suites/known.toml", help=argparse.SUPPRESS)


def chosen(catalog: Catalog, op: str, dtypes: Sequence[str]) -> list[Item]:
    """The items that can be swept, of the spec of that name or else of all that the name stands for.

    Raises:
      LookupError: the name is unknown.
      ValueError: none of them can be swept; the message says why.
    """
    names = {op} if op in catalog.specs else catalog.named(op)
    items = [i for i in catalog.items if i.spec.name in names and (not dtypes or i.dtype in dtypes)]
    reasons = {item.id: refusal(item.spec, item.dtype) for item in items if item.dtype in DTYPES}
    found = [item for item in items if reasons.get(item.id) == ""]
    if not found:
        raise ValueError("; ".join(sorted(set(reasons.values()))) or f"{op} has none of {', '.join(dtypes or DTYPES)}")
    return found


def span(text: str | None, dtype: str) -> tuple[int, int]:
    """The range of bit patterns.

    Raises:
      ValueError: it is none, or empty, or beyond the dtype.
    """
    if text is None:
        return 0, patterns(dtype)
    lo, _, hi = text.partition(":")
    try:
        found = int(lo, 0), int(hi, 0)
    except ValueError:
        raise ValueError(f"range {text!r}: expected LO:HI, such as 0x3f800000:0x40000000") from None
    if not 0 <= found[0] < found[1] <= patterns(dtype):
        raise ValueError(f"range {text!r}: expected 0 <= LO < HI <= {patterns(dtype):#x} for {dtype}")
    return found


def sweep(options: argparse.Namespace) -> int:
    """Runs a spec on every bit pattern: 0, 1 where something differs, 2 interrupted, 3 a fault of the suite."""
    heap.keep()
    catalog = Catalog.load(options.suites)
    items = chosen(catalog, options.op, options.dtype)
    ranges = [span(options.range, item.dtype) for item in items]
    expected = known.load(ROOT / options.known, catalog)
    asked = [Device.parse(d) for d in options.device]
    directory, info = _opened(options, asked)
    devices = [Device.parse(d) for d, about in info.devices.items() if about["asked"]]
    info.modes, info.state, info.exit_status, info.ended = options.mode or list(MODES), "running", None, ""
    info.tier = "full"
    plans = [Plan(d, m) for d in devices for m in info.modes]
    sweeps = [Sweep(item, plans, *where) for item, where in zip(items, ranges, strict=True)]
    info.save(directory)
    logs = directory / "logs"
    logs.mkdir(exist_ok=True)
    shard = Shard(directory / "shards" / "sweep.jsonl")
    servers = {d: DeviceServer(d, logs, timeout=options.op_timeout, memory=memory_limit(d)) for d in devices}
    context = Context(run=info.run, started=info.started, tf=info.tf, cuda=info.cuda, host=info.host, known=expected)
    status, recorded = 0, []
    try:
        for one in sweeps:
            one.resume(directory / "shards" / "sweep.jsonl")
            with progress.shown(one.item.id, one.left) as step:
                one.run(servers, shard, step)
            recorded += _record(one, context, shard)
    except KeyboardInterrupt:
        status = 2
    except ReferenceFault as error:
        status = 3
        info.faults = [str(error)]
    finally:
        for server in servers.values():
            server.stop()
        shard.close()
    return _end(directory, info, sweeps, recorded, status)


def _opened(options: argparse.Namespace, asked: Sequence[Device]) -> tuple[Path, rundir.RunInfo]:
    arguments = [options.op, *options.dtype, *options.device, *options.mode, options.range or ""]
    if options.run_dir and (Path(options.run_dir) / "run.json").exists():
        directory = Path(options.run_dir)
        info = rundir.RunInfo.load(directory)
        if info.arguments != arguments:
            raise ValueError(f"{directory} holds another run: {' '.join(info.arguments)}")
        return directory, info
    directory, info = open_run(asked, options.run_dir)
    info.arguments = arguments
    return directory, info


def _record(sweep: Sweep, context: Context, shard: Shard) -> list[Record]:
    """Writes the records of a sweep that is whole, and prints those that are news."""
    made = []
    for recipe, plan in outcome.cells(sweep):
        rows = outcome.records(sweep, context, recipe, plan)
        cell = {"case": outcome.case_id(sweep, recipe), "device": str(plan.device), "mode": plan.mode}
        shard.write("result", **cell, records=[r.to_json() for r in rows], observation={})
        shard.write("compare", **cell, records=[])
        made += rows
    for row in made:
        if row.kind:
            print(sentence(row) + (f"\n  rerun: {row.rerun}" if row.failing else ""))
    return made


def _end(directory: Path, info: rundir.RunInfo, sweeps: list[Sweep], recorded: list[Record], status: int) -> int:
    """Accounts for every cell and writes the report; returns the exit status."""
    done = rundir.merge([directory])
    info.not_run, info.planned = [], 0
    for one in sweeps:
        recipes = {p.recipe for p in pieces(one.item.dtype, one.lo, one.hi)}
        blocks = sum(1 for _ in one.blocks())
        for recipe in (r for r in (NORMAL, SUBNORMAL) if r in recipes):
            for plan, swept in one.swept.items():
                cell = outcome.case_id(one, recipe), str(plan.device), plan.mode
                info.planned += 1
                if cell not in done.done:
                    why = f"cut off after {len(swept.blocks)} of {blocks} blocks" if swept.blocks else "never started"
                    info.not_run.append(dict(zip(("case", "device", "mode"), cell, strict=True)) | {"why": why})
    info.recorded, info.damaged = info.planned - len(info.not_run), done.damaged
    if not info.planned:
        info.faults.append("nothing was swept: no mode that was asked for can express the program")
    if not status:
        at_fault = bool(info.not_run or info.faults) or any(r.verdict == "error" for r in recorded)
        at_fault |= bool(recorded) and all(r.verdict == "unavailable" for r in recorded)
        status = 3 if at_fault else int(any(r.failing for r in recorded))
    info.state = {2: "interrupted", 3: "fault"}.get(status, "complete")
    info.exit_status, info.ended = status, datetime.now(UTC).isoformat(timespec="seconds")
    info.save(directory)
    rows = [row for one in sweeps for row in outcome.summary(one, recorded)]
    for name, text in (("sweep.json", json.dumps(rows, indent=1)), ("sweep.svg", plot.svg(rows))):
        (directory / f"{name}.tmp").write_text(text)
        os.replace(directory / f"{name}.tmp", directory / name)
    subprocess.run([sys.executable, "-m", "reports", str(directory)], check=True, cwd=ROOT)
    state = "" if info.state == "complete" else f", {info.state}: {len(info.not_run)} cells did not run to their end"
    print(f"{len(recorded)} records of {info.recorded} of {info.planned} cells{state}; see {directory}/index.html")
    return status
