"""Session: a pytest session that runs items: what was asked for, where it is kept, and how it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import unpack
from tf_opdiff.harness.judge import known_files, maturity
from tf_opdiff.harness.judge.verdict import Context, Origin
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.repro.earlier_programs import Store, circumstances
from tf_opdiff.harness.repro.listing import claims_data
from tf_opdiff.harness.repro.reproduce import Setting, findings, reproduce
from tf_opdiff.harness.run import batch
from tf_opdiff.harness.run.exit_status import exit_status
from tf_opdiff.harness.run.runner import Runner, planned
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.spec.spec import TIERS
from tf_opdiff.harness.store import partition, rundir, untrusted
from tf_opdiff.harness.store.open_run import open_run, reopen_run
from tf_opdiff.harness.store.record import Record, Unkept, json_of
from tf_opdiff.harness.system.progress import Progress, weights

if TYPE_CHECKING:  # it takes pyarrow, which a run without recordings does not need
    from tf_opdiff.harness.run.campaign import Campaign
    from tf_opdiff.harness.store.recording import Recording


class Session:
    """A pytest session that runs items: what was asked for, and where it is written."""

    def __init__(self, config: pytest.Config, within: Iterable[tuple[str, str]] = ()) -> None:
        """`within` is what the paths on the command line select, as `Catalog.select` takes it.

        Raises:
          pytest.UsageError: something that was asked for does not exist, or a suite can't be imported.
        """
        self.config = config
        self.before: rundir.Merged | None = None
        try:
            self.catalog = Catalog.load(config.getini("opdiff_suites"))
            if config.option.resume:
                self._resume(Path(config.option.resume))
            self.modes = tuple(_one_of("mode", m, MODES) for m in config.option.mode) or MODES
            selected = self.catalog.select(
                tier=_one_of("tier", config.option.tier, TIERS),
                ops=config.option.op,
                cases=config.option.case,
                within=within,
            )
            self.items = tuple(item for item in selected if set(item.spec.modes) & set(self.modes))
            if self.before:
                self.items = tuple(item for item in self.items if item.id in self.before.items)
            if config.option.shard:
                self.items = partition.shard(self.items, partition.parse(config.option.shard), partition.read())
            self.known = known_files.load(ROOT / config.getini("opdiff_known"), self.catalog)
            listed = config.option.maturity and config.invocation_params.dir / config.option.maturity
            self.maturity = maturity.load(listed, self.catalog) if listed else maturity.Maturity()
            self.recordings = _recordings(config.option.device, Path(config.option.recordings))
            asked = [self._device(d) for d in config.option.device]
        except (LookupError, ValueError, known_files.KnownError, OSError) as error:
            raise pytest.UsageError(str(error.args[0] if len(error.args) == 1 else error)) from error
        self.asked = list(dict.fromkeys(asked))
        self.known = replace(self.known, types={name: r.device.type for name, r in self.recordings.items()})
        self.only = set(config.option.case)
        if self.asked and all(device.recorded for device in self.asked) and not self.only:
            # of what was not recorded, there is nothing to judge
            self.only = {case for recording in self.recordings.values() for case in recording.cases}
            self.items = tuple(i for i in self.items if self.only & {c.id for c in (*i.cases, *i.sweeps)})
        self.directory: Path | None = None
        self.made: list[Path] = []
        self.unkept = ""
        self.faults: list[str] = []
        self.progress: Progress | None = None
        self.begun = False
        self.info = rundir.RunInfo(run="", started="")
        self.runner: Runner | Campaign | None = None
        self.expected: Mapping[str, str] = {}
        if config.option.campaign and config.getoption("numprocesses", None):
            raise pytest.UsageError("-n: a campaign has its own workers, one for each CPU of the nodes")

    def _resume(self, directory: Path) -> None:
        """Takes what is asked for from a run that was cut off, and what it has."""
        option = self.config.option
        chosen = option.device or option.mode or option.op or option.case or option.run_dir or option.shard
        if chosen and not hasattr(self.config, "workerinput"):  # a worker has the options as they stand below
            raise ValueError("--resume takes devices, modes, tier and cases from the run: expected no other selection")
        try:
            info = rundir.RunInfo.load(untrusted.without_links(directory))
        except (OSError, ValueError, TypeError) as why:
            raise ValueError(f"--resume {directory}: expected the directory of a run ({why})") from why
        if info.suites != self.config.getini("opdiff_suites"):
            raise ValueError(f"--resume {directory}: it is a run of {info.suites}")
        if info.state in ("complete", "empty"):
            raise ValueError(f"--resume {directory}: that run is whole, there is nothing to resume")
        option.device = [name for name, about in info.devices.items() if about["asked"]]
        option.mode, option.tier, option.case, option.no_sweep = info.modes, info.tier, info.cases, not info.sweeps
        self.before = rundir.merge([directory])
        if not self.before.items:
            raise ValueError(f"--resume {directory}: it had not begun: start it again")

    def _done(self) -> dict[str, list[Record]]:
        """The records of the items all of whose cells a run has that is being resumed."""
        done: dict[str, list[Record]] = {}
        if self.before is None:
            return done
        for item in self.items:
            cells = planned(item, self.plans, self.only, sweeps=self.sweeps)
            found = self.before.records_of((case.id, str(plan.device), plan.mode) for case, plan in cells)
            done.update({} if found is None else {item.id: found})
        return done

    def _device(self, name: str) -> Device:
        return self.recordings[name].device if name in self.recordings else Device.parse(name)

    @property
    def plans(self) -> list[Plan]:
        devices = [self._device(d) for d, about in self.info.devices.items() if about["asked"]]
        return [Plan(device, mode) for device in devices for mode in self.modes]

    @property
    def sweeps(self) -> bool:
        """Whether all inputs are tried of a dtype that has few."""
        option = self.config.option
        return not option.no_sweep and (bool(option.case) or option.tier != "smoke")

    def open(self) -> None:
        """Makes the run directory and asks TensorFlow what is there; in the controlling process only.

        Raises:
          pytest.UsageError: it can't be made, or what was asked for is not there; then there is no directory either.
        """
        option = self.config.option
        chosen = Path(option.run_dir) if option.run_dir else rundir.fresh(ROOT / "runs")
        self.made = [] if option.resume else rundir.absent(chosen)
        try:
            self._open(chosen)
        except BaseException as error:
            if not option.resume and (self.directory or chosen in self.made):  # another run's directory is not ours
                rundir.discard(chosen, self.made)
            self.directory = None
            if isinstance(error, OSError):
                raise pytest.UsageError(f"the run can't be started: {error}") from error
            raise

    def _open(self, chosen: Path) -> None:
        option, there = self.config.option, None
        nodes_have = Path(option.recordings).resolve().is_relative_to(ROOT)
        if option.campaign and self.recordings and not nodes_have:
            raise pytest.UsageError(
                f"--recordings {option.recordings}: nodes get the repository: expected a folder in it"
            )
        try:
            claims = claims_data(self.catalog, hashes=any(item.spec.claims for item in self.items))
            if option.campaign:
                from tf_opdiff.harness.run import cluster

                cluster.connect(option.campaign, self.asked)
                there, self.expected = cluster.survey(self.asked)
            if option.resume:
                self.directory, info = reopen_run(Path(option.resume), self.recordings, there)
            else:
                self.directory, info = open_run(self.asked, str(chosen), self.recordings, there)
        except (RuntimeError, LookupError, ValueError) as error:
            raise pytest.UsageError(str(error.args[0])) from error
        self.info = info
        if self.maturity.device and self.maturity.device not in {
            p.device.type for p in self.plans if not p.device.recorded
        }:
            ran = ", ".join(dict.fromkeys(str(p.device) for p in self.plans))
            raise pytest.UsageError(f"{self.maturity.path} is about {self.maturity.device}, which is not run; {ran} is")
        info.versions["pytest"] = pytest.__version__
        info.suites, info.known = self.config.getini("opdiff_suites"), self.config.getini("opdiff_known")
        info.modes, info.tier, info.cases, info.sweeps = list(self.modes), option.tier, option.case, self.sweeps
        info.arguments = info.arguments or list(self.config.invocation_params.args)
        info.save(self.directory)
        (self.directory / "claims.json").write_text(json_of(claims, indent=1))

    def start(self, directory: Path, info: rundir.RunInfo, worker: str) -> None:
        """Readies this process to run items."""
        self.directory, self.info = directory, info
        recorded = {name: Origin(r.about.tf, r.about.cuda, r.about.host) for name, r in self.recordings.items()}
        here = Origin(info.tf, info.cuda, info.host)
        option = self.config.option
        context = Context(
            run=info.run,
            started=info.started,
            here=here,
            known=self.known,
            maturity=self.maturity,
            recorded=recorded,
        )
        work = batch.Work(
            suites=self.config.getini("opdiff_suites"),
            context=context,
            plans=self.plans,
            timeout=option.op_timeout,
            only=self.only,
            sweeps=self.sweeps,
            recorded=list(self.recordings),
            recordings=Path(os.path.relpath(option.recordings, ROOT)),
        )
        if option.campaign:
            from tf_opdiff.harness.run.campaign import Campaign

            self.runner = Campaign(work, directory, self.expected)
        else:
            processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
            self.runner = batch.runner(work, directory, worker, processes=processes, recordings=self.recordings)
        self.runner.done = self._done()

    def begin(self, ids: Iterable[str], workers: int) -> None:
        """Tells how long the items with these ids are going to take; once, in the controlling process."""
        if self.progress is None or self.begun:
            return
        self.begun = True
        done = self._done() if self.before else {}
        expected = weights((name for name in ids if name not in done), partition.read())
        self.progress.begin("items", expected, rate=1 / max(1, workers))

    @property
    def gone(self) -> bool:
        """Whether the run's directory was deleted while it was run."""
        return self.directory is not None and not (self.directory / "shards").is_dir()

    def finish(self, status: int, stopped: str = "") -> int:
        """Accounts for every planned cell, runs each finding's program, and returns the exit status.

        A run in which nothing was planned leaves nothing: `directory` is None from then on. `stopped` is why the user
        had the run stop early, as by `-x`.

        Raises:
          Unkept: the run's directory is gone.
          OSError: the outcome can't be written.
        """
        if self.gone:
            raise Unkept(f"{self.directory} was deleted while the run was writing it")
        assert self.directory is not None
        merged = rundir.merge([self.directory])
        if not merged.items and status != pytest.ExitCode.INTERNAL_ERROR and not self.config.option.resume:
            self.discard()
            return status
        status = pytest.ExitCode.TESTS_FAILED if stopped else status  # to xdist it is an interrupt
        at_fault = self._account(merged, stopped)
        records, info = merged.records, self.info
        if self.config.option.repro != "none" and status != pytest.ExitCode.INTERRUPTED and not self.unkept:
            try:
                self._reproduce(merged, records)
            except KeyboardInterrupt:
                status = pytest.ExitCode.INTERRUPTED
        at_fault |= any(record.verdict == "error" for record in records)
        status = pytest.ExitCode.INTERNAL_ERROR if self.unkept else exit_status(status, at_fault)
        info.state = {2: "interrupted", 3: "fault", 5: "empty"}.get(status, "interrupted" if stopped else "complete")
        info.exit_status = status
        info.ended = datetime.now(UTC).isoformat(timespec="seconds")
        info.save(self.directory)
        return status

    def _account(self, merged: rundir.Merged, stopped: str) -> bool:
        """Notes which planned cells have no result, and why, and what else is at fault; whether anything is."""
        chosen = [item for item in self.catalog.items if item.id in merged.items]
        cells = {
            (c.id, str(p.device), p.mode)
            for item in chosen
            for c, p in planned(item, self.plans, self.only, sweeps=self.sweeps)
        }
        missing = sorted(cells - merged.done)
        info = self.info
        info.planned, info.recorded, info.damaged = len(cells), len(cells) - len(missing), merged.damaged
        lost = {c.id: merged.lost[i.id] for i in chosen if i.id in merged.lost for c in (*i.cases, *i.sweeps)}
        info.not_run = [
            {
                "case": cell[0],
                "device": cell[1],
                "mode": cell[2],
                "why": lost.get(cell[0]) or _why(cell, merged, stopped),
            }
            for cell in missing
        ]
        info.deselected = sorted({i.id for i in self.catalog.items} - merged.items)
        records = merged.records
        info.faults = self.known.idle(records)
        info.faults += [fault for recording in self.recordings.values() for fault in recording.about.faults]
        info.faults += [*self.faults, *filter(None, [self.unkept])]
        if records and all(record.verdict == "unavailable" for record in records):
            info.faults.append("nothing was tested: no plan has a kernel for what was selected")
        return bool(info.faults) or any(cell["why"] != stopped for cell in info.not_run)

    def discard(self) -> None:
        """Removes the run: there is nothing in it."""
        assert self.directory is not None
        rundir.discard(self.directory, self.made)
        self.directory = None

    def abandon(self) -> None:
        """Closes a run that pytest began and did not come to end, as after an interrupt while it was configured."""
        if self.directory is None or self.gone or self.info.state != "running":
            return
        if self.config.option.resume or rundir.merge([self.directory]).items:
            self.interrupted()
        else:
            self.discard()

    def give_up(self, why: str, gone: bool) -> None:
        """Notes that the run can't be kept, as far as that itself can be; `gone` is whether its directory was deleted
        before junit.xml was written, which makes it again.
        """
        self.unkept = self.unkept or why
        if self.directory is None:
            return
        if gone:
            with contextlib.suppress(OSError):
                (self.directory / "junit.xml").unlink()
                self.directory.rmdir()
        elif (self.directory / "run.json").exists():
            self.info.state, self.info.exit_status = "fault", int(pytest.ExitCode.INTERNAL_ERROR)
            self.info.faults = [*self.info.faults, *({why} - set(self.info.faults))]
            with contextlib.suppress(OSError):
                self.info.save(self.directory)

    def interrupted(self) -> None:
        """Says in `run.json`, if it says `running`, that the run was interrupted; no more than that."""
        if self.directory is not None and self.info.state == "running" and not self.gone:
            self.info.state, self.info.exit_status = "interrupted", int(pytest.ExitCode.INTERRUPTED)
            self.info.save(self.directory)

    @property
    def _elsewhere(self) -> dict[str, Device]:
        """The devices that are not on this machine: recorded ones, and those of a cluster's nodes."""
        remote = self.config.option.campaign not in (None, "local")
        return {str(plan.device): plan.device for plan in self.plans if plan.device.recorded or remote}

    def _reproduce(self, merged: rundir.Merged, records: list[Record]) -> None:
        """Writes and runs the script of each finding, and keeps what became of it as `repro.json`."""
        assert self.directory is not None

        def observed(record: Record) -> np.ndarray | None:
            seen = merged.results[record.case, record.device, record.mode]["observation"].get("quantities", {})
            return unpack(seen.get(record.quantity, {}).get("value"))

        patience = self.config.option.op_timeout
        store = Store(self.info.run, circumstances(self.info, patience), self.info.devices)
        setting = Setting(
            catalog=self.catalog,
            tf=self.info.tf,
            folder=self.directory / "repro",
            timeout=patience,
            observed=observed,
            elsewhere=self._elsewhere,
            store=store,
            again=self.config.option.repro == "all",
        )
        outcomes = reproduce(findings(records), setting, self.progress)
        store.prune()
        (self.directory / "repro.json").write_text(json_of([vars(o) for o in outcomes], indent=1))


def _why(cell: rundir.Cell, merged: rundir.Merged, stopped: str) -> str:
    """Why a planned cell counts as not run; `stopped` is why the user had the run stop early, if so."""
    if cell in merged.results and cell in merged.compared:
        return "it ran, and left no record"
    return "cut off" if cell in merged.started else stopped or "never started"


def _one_of(what: str, name: str, there: tuple[str, ...]) -> str:
    if name not in there:
        raise ValueError(f"no {what} {name!r}; there is {', '.join(there)}")
    return name


def _recordings(devices: Sequence[str], folder: Path) -> Mapping[str, Recording]:
    """The recordings among the devices that were asked for."""
    if not any("@" in name or (folder / f"{name}.parquet").exists() for name in devices):
        return {}
    from tf_opdiff.harness.store import recording  # it takes pyarrow

    return recording.find(devices, folder)
