"""End sweep: ends the run of a sweep: accounts for every cell, decides the exit status and writes the report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards.merged import Cell, merge
from tf_opdiff.harness.sweep import plot
from tf_opdiff.harness.sweep.measurements import tally_rows
from tf_opdiff.harness.sweep.sweep import Sweep

#: A case, a device and a mode that a run planned, and why the cell is not done if it is not.
Planned = tuple[Cell, str]


def end(
    directory: Path,
    info: RunInfo,
    sweeps: Sequence[Sweep],
    recorded: list[Record],
    status: int,
    write_report: Callable[[Path], None],
) -> int:
    """Accounts for every planned cell of sweeps, writes `run.json`, tallies, plot and report; returns the status."""
    planned: list[Planned] = []
    for one in sweeps:
        blocks = sum(1 for _ in one.blocks())
        for recipe in one.recipes:
            for plan, swept in one.swept.items():
                why = f"cut off after {len(swept.blocks)} of {blocks} blocks" if swept.blocks else "never started"
                planned.append(((tally_rows.case_id(one, recipe), str(plan.device), plan.mode), why))
    rows = [row for one in sweeps for row in tally_rows.summary(one, recorded)]
    for name, text in (("sweep.json", json_of(rows, indent=1)), ("sweep.svg", plot.svg(rows))):
        (directory / f"{name}.tmp").write_text(text)
        os.replace(directory / f"{name}.tmp", directory / name)
    return close(directory, info, planned, recorded, status, write_report)


def close(
    directory: Path,
    info: RunInfo,
    planned: Sequence[Planned],
    recorded: list[Record],
    status: int,
    write_report: Callable[[Path], None],
) -> int:
    """Accounts for every planned cell, writes `run.json` and the report; returns the exit status."""
    done = merge([directory])
    missing = [(cell, why) for cell, why in planned if cell not in done.done]
    names = ("case", "device", "mode")
    info.not_run = [dict(zip(names, cell, strict=True)) | {"why": why} for cell, why in missing]
    info.planned, info.recorded, info.damaged = len(planned), len(planned) - len(missing), done.damaged
    if not info.planned:
        info.faults.append("nothing was swept: no mode that was asked for can express the program")
    if not status:
        at_fault = bool(info.not_run or info.faults) or any(r.verdict == "error" for r in recorded)
        at_fault |= bool(recorded) and all(r.verdict == "unavailable" for r in recorded)
        status = 3 if at_fault else int(any(r.failing for r in recorded))
    info.state = {2: "interrupted", 3: "fault"}.get(status, "complete")
    info.exit_status, info.ended = status, datetime.now(UTC).isoformat(timespec="seconds")
    info.save(directory)
    write_report(directory)
    state = "" if info.state == "complete" else f", {info.state}: {len(info.not_run)} cells did not run to their end"
    print(f"{len(recorded)} records of {info.recorded} of {info.planned} cells{state}; see {directory}/index.html")
    return status
