"""Session end: a session's accounts, its programs of findings, and its exit status."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tf_opdiff.harness.cases.planned_cells import planned
from tf_opdiff.harness.device.observation import unpack
from tf_opdiff.harness.judge.known_failures.known import IdleEntries
from tf_opdiff.harness.repro import archive
from tf_opdiff.harness.repro.earlier_programs import Store, circumstances
from tf_opdiff.harness.repro.findings import findings
from tf_opdiff.harness.repro.reproduce import Setting, reproduce
from tf_opdiff.harness.run.exit_status import exit_status
from tf_opdiff.harness.run.sessions.session import Session
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.records.record import Record
from tf_opdiff.harness.store.run_directories import old_runs, rundir
from tf_opdiff.harness.store.run_directories.run_info import REPORTING
from tf_opdiff.harness.store.shards import compressed, finished_cells, whole_lines
from tf_opdiff.harness.store.shards.finished_cells import FinishedCells
from tf_opdiff.harness.store.shards.merged import Cell
from tf_opdiff.harness.store.shards.shard import Unkept


def finish(session: Session, status: int, stopped: str = "") -> int:
    """Accounts for every planned cell, runs the program of each finding, and returns the exit status.

    On the disk, a complete run is `reporting` until `reported` is called.

    A run in which nothing was planned is discarded. `status` is pytest's own exit status; `stopped` says why the user
    stopped the run early, as by `-x`.

    Raises:
      Unkept: the run directory was deleted.
      OSError: the outcome can't be written.
    """
    if session.deleted:
        raise Unkept(f"{session.directory} was deleted while the run was writing it")
    assert session.directory is not None
    option, info = session.config.option, session.info
    idle = IdleEntries(session.known)
    present = finished_cells.read(session.directory, idle.visit)
    if not present.items and status != pytest.ExitCode.INTERNAL_ERROR and not option.resume:
        discard(session)
        return status
    status = pytest.ExitCode.TESTS_FAILED if stopped else status  # to xdist it is an interrupt
    at_fault = _account(session, present, idle, stopped)
    if option.repro != "none" and status != pytest.ExitCode.INTERRUPTED and not session.unsaved:
        try:
            _reproduce(session, findings(present.records))
        except KeyboardInterrupt:
            status = pytest.ExitCode.INTERRUPTED
    at_fault |= "error" in present.verdicts
    status = pytest.ExitCode.INTERNAL_ERROR if session.unsaved else exit_status(status, at_fault)
    info.state = {2: "interrupted", 3: "fault", 5: "empty"}.get(status, "interrupted" if stopped else "complete")
    info.exit_status = status
    info.ended = datetime.now(UTC).isoformat(timespec="seconds")
    replace(info, state=REPORTING if info.state == "complete" else info.state).save(session.directory)
    return status


def reported(session: Session) -> None:
    """Notes on the disk that the report of a run is written.

    Raises:
      OSError: the outcome can't be written.
    """
    assert session.directory is not None
    session.info.save(session.directory)


def tidy(session: Session, folder: Path) -> None:
    """Compresses the shards and logs of a run whose report is written; shards leave out what its Parquet files have.

    If the run is in the `folder` of runs, removes old ones there. A disk that is full, or a file that someone else
    removes, costs a line only.
    """
    directory, info = session.directory, session.info
    if directory is None or info.state == "interrupted":
        return
    try:
        whole_lines.compress(directory, complete=info.state == "complete")
        compressed.compress_logs(directory / "logs")
        keep = session.config.option.keep_runs
        if info.state == "complete" and directory.parent.resolve() == folder.resolve():
            removed = [path.name for path in old_runs.remove(folder, keep)]
            session.notes += [f"removed old runs: {', '.join(removed)} (--keep-runs {keep})"] if removed else []
    except (OSError, ValueError) as why:
        session.notes.append(f"old results were not compressed or removed: {why}")


def _account(session: Session, present: FinishedCells, idle: IdleEntries, stopped: str) -> bool:
    """Notes in the run's info which planned cells have no result and why, and all faults; returns whether any exist."""
    info, selection, plans = session.info, session.selection, session.plans
    items = [item for item in selection.catalog.items if item.id in present.items]
    cells = {
        (case.id, str(plan.device), plan.mode)
        for item in items
        for case, plan in planned(item, plans, selection.only, sweeps=selection.sweeps)
    }
    missing = sorted(cells - present.done)
    info.planned, info.recorded, info.damaged = len(cells), len(cells) - len(missing), present.damaged
    lost = {c.id: present.lost[i.id] for i in items if i.id in present.lost for c in (*i.cases, *i.sweeps)}
    names = ("case", "device", "mode")
    info.not_run = [
        {**dict(zip(names, cell, strict=True)), "why": lost.get(cell[0]) or _why(cell, present, stopped)}
        for cell in missing
    ]
    info.cache = {"inputs and promises": _cache_use(present, off=session.config.option.no_cache)}
    info.cache |= {"programs that XLA compiled": "on"} if session.config.option.xla_cache else {}
    info.deselected = sorted({item.id for item in selection.catalog.items} - present.items)
    info.faults = idle.lines()
    info.faults += [fault for recording in selection.recordings.values() for fault in recording.about.faults]
    info.faults += [*session.faults, *filter(None, [session.unsaved])]
    info.faults = list(dict.fromkeys(info.faults))  # a fault of a run is one of each of its devices
    if present.verdicts == {"unavailable"}:
        info.faults.append("nothing was tested: no plan has a kernel for what was selected")
    return bool(info.faults) or any(cell["why"] != stopped for cell in info.not_run)


def _cache_use(present: FinishedCells, *, off: bool) -> str:
    """How the run used the cache of inputs and promises."""
    if off:
        return "off: --no-cache"
    read, computed = (sum(line[name] for line in present.cached) for name in ("read", "computed"))
    reasons = dict.fromkeys(line["off"] for line in present.cached if line["off"])
    return "; ".join([f"{read} cases read, {computed} computed", *(f"off: {reason}" for reason in reasons)])


def _why(cell: Cell, present: FinishedCells, stopped: str) -> str:
    """Why a planned cell counts as not run; `stopped` says why the user stopped the run early, if so."""
    if cell in present.results and cell in present.compared:
        return "it ran, and left no record"
    return "cut off" if cell in present.started else stopped or "never started"


def _reproduce(session: Session, discrepancies: Sequence[Record]) -> None:
    """Writes and runs the program of each finding; saves the outcomes as `repro.json`."""
    directory = session.directory
    assert directory is not None
    info, option = session.info, session.config.option
    cells = {(record.case, record.device, record.mode) for record in discrepancies}
    observations = functools.cache(
        lambda: finished_cells.observations(directory, cells)
    )  # read if a finding has a plot

    def observed(record: Record) -> np.ndarray | None:
        observation = observations().get((record.case, record.device, record.mode))
        result = observation.get("quantities", {}).get(record.quantity) if observation else None
        return unpack(result.get("value")) if result else None

    remote = option.campaign not in (None, "local")
    store = Store(info.run, circumstances(info, option.op_timeout), info.devices)
    setting = Setting(
        catalog=session.selection.catalog,
        tf=info.tf,
        folder=directory / "repro",
        timeout=option.op_timeout,
        observed=observed,
        elsewhere={str(plan.device): plan.device for plan in session.plans if remote or not plan.device.local},
        store=store,
        again=option.repro == "all",
    )
    outcomes = archive.pack(reproduce(discrepancies, setting, session.progress), setting.folder)
    store.prune()
    (directory / "repro.json").write_text(_lines(vars(o) for o in outcomes))


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """A list in JSON with one line for each row."""
    return "[\n" + ",\n".join(json_of(row, separators=(",", ":")) for row in rows) + "\n]\n"


def close_runner(session: Session) -> None:
    """Ends everything that runs items."""
    try:
        if session.runner:
            session.runner.close()
    except Unkept as why:
        session.unsaved = session.unsaved or str(why)


def discard(session: Session) -> None:
    """Removes the run directory of a run that recorded nothing."""
    assert session.directory is not None
    rundir.discard(session.directory, session.created)
    session.directory = None


def abandon(session: Session) -> None:
    """Closes a run that pytest began and did not end, as after an interrupt during its configuration."""
    if session.kernels:
        session.kernels.stop()
    if session.directory is None or session.deleted or session.info.state != "running":
        return
    if session.config.option.resume or finished_cells.read(session.directory).items:
        session.interrupted()
    else:
        discard(session)


def give_up(session: Session, why: str, deleted: bool) -> None:
    """Notes that the run cannot be saved, if at least that can be written.

    `deleted` says whether somebody deleted the run directory before pytest wrote junit.xml, which creates it again.
    """
    session.unsaved = session.unsaved or why
    if session.directory is None:
        return
    if deleted:
        with contextlib.suppress(OSError):
            (session.directory / "junit.xml").unlink()
            session.directory.rmdir()
    elif (session.directory / "run.json").exists():
        session.info.state, session.info.exit_status = "fault", int(pytest.ExitCode.INTERNAL_ERROR)
        session.info.faults = [*session.info.faults, *({why} - set(session.info.faults))]
        with contextlib.suppress(OSError):
            session.info.save(session.directory)
