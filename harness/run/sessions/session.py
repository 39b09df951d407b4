"""Session: a pytest session that runs items, from the opening of its run directory to its last item.

The end of a session is in `session_end`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tf_opdiff.harness.device.installation.kernel_list import KernelList
from tf_opdiff.harness.device.processes import shared_fork_server
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.verdicts.verdict import Context, Origin
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.repro.listing import claims_data
from tf_opdiff.harness.repro.override_listing import OverrideData, overrides_data
from tf_opdiff.harness.run.campaigns import batch
from tf_opdiff.harness.run.items_runner import ItemsRunner
from tf_opdiff.harness.run.selection import Selection
from tf_opdiff.harness.run.sessions import without_onednn
from tf_opdiff.harness.spec.plan import Plan
from tf_opdiff.harness.store.formats.json_text import json_of
from tf_opdiff.harness.store.recordings.recorded_device import About
from tf_opdiff.harness.store.run_directories import rundir
from tf_opdiff.harness.store.run_directories.open_run import open_run, reopen_run
from tf_opdiff.harness.store.run_directories.revision import commit
from tf_opdiff.harness.store.run_directories.run_code import RunCode
from tf_opdiff.harness.store.run_directories.run_info import RunInfo
from tf_opdiff.harness.store.shards import partition
from tf_opdiff.harness.system.progress import Progress, weights


class Session:
    """A pytest session that runs items: its selection, its run directory, and what runs its items.

    Attributes:
      directory: the run directory; None before `open`, and after the run was discarded.
      created: the folders that this session created for the run directory.
      unsaved: why results of the run cannot be saved; empty if they can.
      faults: faults of the session itself, for `run.json`.
      circumstances: those of a campaign, which every node must have.
      kernels: the process that writes kernels.json while items run.
      notes: lines for the end of the terminal's output.
    """

    def __init__(self, config: pytest.Config, selection: Selection) -> None:
        """A session that has not begun.

        Raises:
          pytest.UsageError: options contradict each other.
        """
        self.config, self.selection = config, selection
        self.directory: Path | None = None
        self.created: list[Path] = []
        self.unsaved = ""
        self.faults: list[str] = []
        self.progress: Progress | None = None
        self.progress_began = False
        self.info = RunInfo(run="", started="")
        self.runner: ItemsRunner | None = None
        self.circumstances: Mapping[str, str] = {}
        self.kernels: KernelList | None = None
        self.notes: list[str] = []
        self.overrides: list[OverrideData] = []
        if config.option.campaign and config.getoption("numprocesses", None):
            raise pytest.UsageError("-n: a campaign has its own workers, one for each CPU of the nodes")

    @property
    def plans(self) -> list[Plan]:
        """The plans of the run."""
        return self.selection.plans(self.info)

    @property
    def deleted(self) -> bool:
        """Whether somebody deleted the run directory during the run."""
        return self.directory is not None and not (self.directory / "shards").is_dir()

    def use_the_wait(self) -> None:
        """Does work of later: the fork server imports TensorFlow, and `open` will wait for it."""
        option = self.config.option
        if not (option.campaign or option.no_cache or self.config.getoption("numprocesses", None)):
            batch.code_digest(self.config.getini("opdiff_suites"))
        if any(item.spec.override for item in self.selection.items):
            self.overrides = overrides_data(self.selection.catalog.specs.values())
        self.config.hook.pytest_opdiff_waiting(items=len(self.selection.items))

    def open(self) -> None:
        """Creates the run directory and looks for the devices; in the controlling process only.

        Raises:
          pytest.UsageError: the directory can't be created, or a device is absent; then no directory is left.
        """
        option = self.config.option
        directory = Path(option.run_dir) if option.run_dir else rundir.fresh(ROOT / "runs")
        self.created = [] if option.resume else rundir.absent(directory)
        try:
            self._open(directory)
        except BaseException as error:
            if not option.resume and (self.directory or directory in self.created):  # not another run's directory
                rundir.discard(directory, self.created)
            self.directory = None
            if isinstance(error, OSError):
                raise pytest.UsageError(f"the run can't be started: {error}") from error
            raise

    def _open(self, directory: Path) -> None:
        option, selection = self.config.option, self.selection
        if option.campaign and selection.recordings and not Path(option.recordings).resolve().is_relative_to(ROOT):
            raise pytest.UsageError(
                f"--recordings {option.recordings}: nodes get the repository: expected a folder in it"
            )
        if option.campaign and (remote := [str(device) for device in selection.devices if device.server]):
            raise pytest.UsageError(f"a campaign runs on devices of its nodes: expected no {', '.join(remote)}")
        try:
            claims = claims_data(selection.catalog, hashes=any(item.spec.claims for item in selection.items))
            machine = self._connect() if option.campaign else None
            devices = list(selection.devices)
            elsewhere = {name: recording.about for name, recording in selection.recordings.items()}
            if any(device.server for device in devices):
                elsewhere |= self._ask_servers()
            if option.resume:
                self.directory, self.info = reopen_run(Path(option.resume), elsewhere, machine)
                self._rerun(self.directory)
            else:
                self.directory, self.info = open_run(devices, str(directory), elsewhere, machine)
                if not (devices or option.campaign or option.tier == "smoke"):
                    self.info.devices |= without_onednn.second_device(self.info.devices, selection.items)
            os.environ.update(shared_fork_server.offered())  # xdist's workers start with this environment
        except LookupError as error:
            servers = ", ".join(selection.remotes)
            listed = f"; servers in the file of devices: {servers}" if servers else ""
            raise pytest.UsageError(f"{error.args[0]}{listed}") from error
        except (RuntimeError, ValueError) as error:
            raise pytest.UsageError(str(error.args[0])) from error
        self._check_maturity()
        info = self.info
        info.versions["pytest"] = pytest.__version__
        info.suites, info.known = self.config.getini("opdiff_suites"), self.config.getini("opdiff_known")
        info.modes, info.tier, info.cases = list(selection.modes), option.tier, option.case
        info.sweeps = selection.sweeps
        info.arguments = info.arguments or list(self.config.invocation_params.args)
        if option.shard:
            number, count = partition.parse(option.shard)
            info.shard, info.shards, info.division = f"{number}/{count}", list(selection.shards), selection.division
        RunCode.present(info.suites, info.known).save(self.directory)
        info.save(self.directory)
        (self.directory / "claims.json").write_text(json_of(claims, indent=1))
        (self.directory / "overrides.json").write_text(json_of(self.overrides, indent=1))
        causes = [msgspec.to_builtins(cause) for cause in selection.known.causes.values()]
        (self.directory / "causes.json").write_text(json_of(causes, indent=1))
        if machine is None and any(plan.device.local for plan in self.plans):
            self.kernels = KernelList(self.directory.resolve() / "kernels.json")

    def _rerun(self, directory: Path) -> None:
        """Drops the results that a resumed run has of code that changed since; its shards are plain then."""
        assert self.selection.resumed is not None
        self.selection.resumed.drop(directory)
        if self.selection.resumed.kept is not None:
            self.info.versions["suite commit"] = commit(ROOT)

    def _connect(self) -> dict[str, Any]:
        """Connects to the cluster of a campaign; returns its nodes as one machine."""
        from tf_opdiff.harness.run.campaigns import cluster

        devices = self.selection.devices
        cluster.connect(self.config.option.campaign, devices)
        machine, self.circumstances = cluster.survey(devices)
        return machine

    def _ask_servers(self) -> dict[str, About]:
        """The facts of the remote devices, by their names; starts their servers once, to ask them.

        Raises:
          RuntimeError, LookupError: a server does not start, or has no such device.
        """
        from tf_opdiff.harness.remote import facts

        return facts.abouts(self.selection.devices, self.selection.remotes)

    def _check_maturity(self) -> None:
        """Refuses a maturity list about a device that does not run."""
        maturity = self.selection.maturity
        if maturity.device and maturity.device not in {p.device.type for p in self.plans if not p.device.recorded}:
            devices = ", ".join(dict.fromkeys(str(p.device) for p in self.plans))
            raise pytest.UsageError(f"{maturity.path} is about {maturity.device}, which is not run; {devices} is")

    def start(self, directory: Path, info: RunInfo, worker: str) -> None:
        """Prepares this process to run items, with a shard of this worker's name in the run directory."""
        self.directory, self.info = directory, info
        option, selection = self.config.option, self.selection
        recordings = selection.recordings
        origins = {name: Origin(r.about.tf, r.about.cuda, r.about.host) for name, r in recordings.items()}
        for name, about in info.devices.items():
            if "server" in about:
                origins[name] = Origin(about["tensorflow"], about["cuda"], about["host"])
        context = Context(
            run=info.run,
            started=info.started,
            here=Origin(info.tf, info.cuda, info.host),
            known=self.known,
            maturity=selection.maturity,
            elsewhere=origins,
        )
        work = batch.Work(
            suites=self.config.getini("opdiff_suites"),
            context=context,
            plans=self.plans,
            timeout=option.op_timeout,
            only=selection.only,
            sweeps=selection.sweeps,
            recorded=list(recordings),
            remotes=selection.remotes,
            recordings=Path(os.path.relpath(option.recordings, ROOT)),
            cache=not option.no_cache,
            xla_cache=option.xla_cache,
        )
        if option.campaign:
            from tf_opdiff.harness.run.campaigns.campaign import Campaign

            self.runner = Campaign(work, directory, self.circumstances)
        else:
            processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
            self.runner = batch.runner(work, directory, worker, processes=processes, recordings=recordings)
        self.runner.done = selection.done(self.plans)

    @property
    def known(self) -> Known:
        """The known failures, about the devices of the run."""
        return self.selection.known.on(self.info.devices)

    def begin_progress(self, ids: Iterable[str], workers: int) -> None:
        """Begins to report progress on the items with these ids; once, in the controlling process."""
        if self.progress is None or self.progress_began:
            return
        self.progress_began = True
        done = self.selection.done(self.plans)
        expected = weights((name for name in ids if name not in done), partition.read())
        self.progress.begin("items", expected, rate=1 / max(1, workers))

    def interrupted(self) -> None:
        """Notes in `run.json` that the run was interrupted, if it says `running`; does nothing else."""
        if self.directory is not None and self.info.state == "running" and not self.deleted:
            self.info.state, self.info.exit_status = "interrupted", int(pytest.ExitCode.INTERRUPTED)
            self.info.save(self.directory)
