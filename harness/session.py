"""Session: a pytest session that runs items: what was asked for, where it is kept, and how it ends."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from harness import known, maturity, rundir
from harness.catalog import Catalog
from harness.claim import told
from harness.devices import ROOT, DeviceServer, memory_share
from harness.observation import unpack
from harness.opening import open_run
from harness.plan import MODES, Device, Plan
from harness.record import Record
from harness.reproduce import findings, reproduce
from harness.run import Runner, planned
from harness.slots import Slots
from harness.spec import TIERS
from harness.verdict import Context


class Session:
    """A pytest session that runs items: what was asked for, and where it is written."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.catalog = Catalog.load(config.getini("opdiff_suites"))
        try:
            self.modes = tuple(_one_of("mode", m, MODES) for m in config.option.mode) or MODES
            selected = self.catalog.select(
                tier=_one_of("tier", config.option.tier, TIERS), ops=config.option.op, cases=config.option.case
            )
            self.items = tuple(item for item in selected if set(item.spec.modes) & set(self.modes))
            self.known = known.load(ROOT / config.getini("opdiff_known"), self.catalog)
            listed = config.option.maturity and config.invocation_params.dir / config.option.maturity
            self.maturity = maturity.load(listed, self.catalog) if listed else maturity.Maturity()
            asked = [Device.parse(d) for d in config.option.device]
        except (LookupError, ValueError, known.KnownError, OSError) as error:
            raise pytest.UsageError(str(error.args[0] if len(error.args) == 1 else error)) from error
        self.asked = list(dict.fromkeys(asked))
        self.directory: Path | None = None
        self.info = rundir.RunInfo(run="", started="")
        self.runner: Runner | None = None

    @property
    def plans(self) -> list[Plan]:
        devices = [Device.parse(d) for d, about in self.info.devices.items() if about["asked"]]
        return [Plan(device, mode) for device in devices for mode in self.modes]

    @property
    def sweeps(self) -> bool:
        """Whether all inputs are tried of a dtype that has few."""
        option = self.config.option
        return not option.no_sweep and (bool(option.case) or option.tier != "smoke")

    def open(self) -> None:
        """Makes the run directory and asks TensorFlow what is there; in the controlling process only."""
        option = self.config.option
        try:
            claims = told(self.catalog)
            self.directory, info = open_run(self.asked, option.run_dir)
        except (RuntimeError, LookupError, ValueError) as error:
            raise pytest.UsageError(str(error.args[0])) from error
        self.info = info
        if self.maturity.device and self.maturity.device not in {p.device.type for p in self.plans}:
            ran = ", ".join(dict.fromkeys(str(p.device) for p in self.plans))
            raise pytest.UsageError(f"{self.maturity.path} is about {self.maturity.device}, which is not run; {ran} is")
        info.versions["pytest"] = pytest.__version__
        info.suites, info.known = self.config.getini("opdiff_suites"), self.config.getini("opdiff_known")
        info.arguments, info.modes, info.tier = list(self.config.invocation_params.args), list(self.modes), option.tier
        info.save(self.directory)
        (self.directory / "claims.json").write_text(json.dumps(claims, indent=1))

    def start(self, directory: Path, info: rundir.RunInfo, worker: str) -> None:
        """Readies this process to run items."""
        self.directory, self.info = directory, info
        logs = directory / "logs"
        logs.mkdir(exist_ok=True)
        timeout = self.config.option.op_timeout
        devices = dict.fromkeys(plan.device for plan in self.plans)
        context = Context(
            run=info.run,
            started=info.started,
            tf=info.tf,
            cuda=info.cuda,
            host=info.host,
            known=self.known,
            maturity=self.maturity,
        )
        servers = {d: DeviceServer(d, logs, timeout=timeout, memory=memory_limit(d)) for d in devices}
        shard = rundir.open_shard(directory, worker)
        only = self.config.option.case
        self.runner = Runner(context, self.plans, servers, shard, Slots(devices), only, self.sweeps)

    def finish(self, status: int) -> int:
        """Accounts for every planned cell, runs each finding's script, and returns the exit status."""
        assert self.directory is not None
        merged = rundir.merge([self.directory])
        chosen = [item for item in self.catalog.items if item.id in merged.items]
        only = self.config.option.case
        cells = {
            (c.id, str(p.device), p.mode)
            for item in chosen
            for c, p in planned(item, self.plans, only, sweeps=self.sweeps)
        }
        missing = sorted(cells - merged.done)
        info = self.info
        info.planned, info.recorded, info.damaged = len(cells), len(cells) - len(missing), merged.damaged
        info.not_run = [
            {"case": c, "device": d, "mode": m, "why": "cut off" if (c, d, m) in merged.started else "never started"}
            for c, d, m in missing
        ]
        info.deselected = sorted({i.id for i in self.catalog.items} - merged.items)
        info.ended = datetime.now(UTC).isoformat(timespec="seconds")
        records = merged.records
        info.faults = self.known.idle(records, info.tf)
        if records and all(record.verdict == "unavailable" for record in records):
            info.faults.append("nothing was tested: no plan has a kernel for what was selected")
        if not self.config.option.no_repro and status != pytest.ExitCode.INTERRUPTED:
            self._reproduce(merged, records)
        at_fault = bool(missing or info.faults) or any(record.verdict == "error" for record in records)
        status = exit_status(status, at_fault)
        info.state = {2: "interrupted", 3: "fault", 5: "empty"}.get(status, "complete")
        info.exit_status = status
        info.save(self.directory)
        return status

    def _reproduce(self, merged: rundir.Merged, records: list[Record]) -> None:
        """Writes and runs the script of each finding, and keeps what became of it as `repro.json`."""
        assert self.directory is not None

        def observed(record: Record) -> np.ndarray | None:
            seen = merged.results[record.case, record.device, record.mode].get("observation", {})
            return unpack(seen.get(record.quantity, {}).get("value"))

        patience = self.config.option.op_timeout
        outcomes = reproduce(
            findings(records), self.catalog, self.info.tf, self.directory / "repro", timeout=patience, observed=observed
        )
        (self.directory / "repro.json").write_text(json.dumps([vars(o) for o in outcomes], indent=1))


def exit_status(status: int, at_fault: bool) -> int:
    """The session's exit status from pytest's own; a fault of the suite outweighs discrepancies."""
    ended = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)
    return int(pytest.ExitCode.INTERNAL_ERROR if at_fault and status not in ended else status)


def _one_of(what: str, name: str, there: tuple[str, ...]) -> str:
    if name not in there:
        raise ValueError(f"no {what} {name!r}; there is {', '.join(there)}")
    return name


def memory_limit(device: Device) -> int:
    """What a server may allocate: a CPU server its share of the machine's memory; drivers of others map far more."""
    return memory_share(int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))) if device.type == "cpu" else 0
