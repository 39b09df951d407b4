"""Plugin: how pytest selects items, runs them, and ends.

Exit status: 0 clean; 1 discrepancies; 2 interrupted, with a report that says so; 3 the suite's own fault, such as a
broken reference, an op that ran elsewhere than planned, or a planned cell without a result; 4 wrong usage; 5 nothing
was selected.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from harness import known, rundir
from harness.catalog import Catalog, Item
from harness.devices import ROOT, DeviceServer, probe
from harness.plan import MODES, Device, Plan
from harness.record import Record
from harness.run import Runner, planned
from harness.spec import TIERS
from harness.verdict import Context, sentence

OLDEST_TF = "2.18"
FLAGS = ("TF_ENABLE_ONEDNN_OPTS", "TF_XLA_FLAGS", "XLA_FLAGS", "CUDA_VISIBLE_DEVICES", "NVIDIA_TF32_OVERRIDE")
_session = pytest.StashKey["Session"]()


class Hooks:
    """What conftest may answer."""

    @pytest.hookspec
    def pytest_opdiff_report(self, directory: Path, info: rundir.RunInfo) -> None:
        """Writes the report of a run that ended."""

    @pytest.hookspec(firstresult=True)
    def pytest_opdiff_summary(self, directory: Path, info: rundir.RunInfo) -> list[str]:
        """The lines that close the terminal's output."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("opdiff", "tf-opdiff")
    group.addoption("--device", action="append", default=[], metavar="D", help="cpu, gpu:0, …; default: all there are")
    group.addoption("--mode", action="append", default=[], metavar="M", help=f"{', '.join(MODES)}; default: all")
    group.addoption("--op", action="append", default=[], metavar="OP", help="a spec, a family or an OpDef name")
    group.addoption("--case", action="append", default=[], metavar="CASE", help="a case id, as failures print it")
    group.addoption("--tier", default="default", metavar="T", help=f"{', '.join(TIERS)}; default: default")
    group.addoption("--run-dir", metavar="DIR", help="where the run is kept; default: a new one under runs/")
    group.addoption("--op-timeout", type=float, default=120.0, metavar="S", help="seconds after which a run has hung")
    parser.addini("opdiff_suites", "the module or package that holds the suites", default="suites")
    parser.addini("opdiff_known", "the file of known failures", default="suites/known.toml")


class Session:
    """A pytest session that runs items: what was asked for, and where it is written."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.catalog = Catalog.load(config.getini("opdiff_suites"))
        try:
            self.items = self.catalog.select(
                tier=_one_of("tier", config.option.tier, TIERS), ops=config.option.op, cases=config.option.case
            )
            self.known = known.load(ROOT / config.getini("opdiff_known"), self.catalog)
            self.modes = tuple(_one_of("mode", m, MODES) for m in config.option.mode) or MODES
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

    def open(self) -> None:
        """Makes the run directory and asks TensorFlow what is there; in the controlling process only."""
        option = self.config.option
        logs = Path(tempfile.mkdtemp(prefix="opdiff-"))
        try:
            there = probe(logs / "probe.log")
        except RuntimeError as error:
            raise pytest.UsageError(str(error)) from error
        finally:
            shutil.rmtree(logs, ignore_errors=True)
        tf = there["versions"]["tensorflow"]
        if Version(tf) < Version(OLDEST_TF):
            raise pytest.UsageError(f"TensorFlow {tf} is too old: expected {OLDEST_TF} or newer")
        listed = there["devices"]
        devices = self.asked or [Device.parse(d) for d in listed]
        absent = [d for d in devices if str(d) not in listed and d.type != "cpu"]
        if absent:
            names = ", ".join(map(str, absent))
            raise pytest.UsageError(f"device {names} is not there; TensorFlow lists {', '.join(listed)}")
        self.info.devices = {str(d): {**listed.get(str(d), {}), "asked": True} for d in devices}
        self.info.devices |= {d: {**about, "asked": False} for d, about in listed.items() if Device.parse(d) not in devices}
        try:
            self.directory = rundir.create(ROOT / "runs", chosen=Path(option.run_dir) if option.run_dir else None)
        except OSError as error:
            raise pytest.UsageError(f"run directory: {error}") from error
        info = self.info
        info.run, info.started = self.directory.resolve().name, datetime.now(UTC).isoformat(timespec="seconds")
        info.host, info.tf, info.cuda = socket.gethostname(), tf, there["cuda"]
        info.versions = {**there["versions"], "cudnn": there["cudnn"], "pytest": pytest.__version__}
        info.flags = {name: os.environ[name] for name in FLAGS if name in os.environ}
        info.machine = {"system": platform.platform(), "processor": _processor(), "cores": str(os.cpu_count())}
        info.arguments, info.modes, info.tier = list(self.config.invocation_params.args), list(self.modes), option.tier
        info.save(self.directory)

    def start(self, directory: Path, info: rundir.RunInfo, worker: str) -> None:
        """Readies this process to run items."""
        self.directory, self.info = directory, info
        logs = directory / "logs"
        logs.mkdir(exist_ok=True)
        timeout = self.config.option.op_timeout
        devices = dict.fromkeys(plan.device for plan in self.plans)
        context = Context(
            run=info.run, started=info.started, tf=info.tf, cuda=info.cuda, host=info.host, known=self.known
        )
        servers = {d: DeviceServer(d, logs, timeout=timeout, memory=_memory(d)) for d in devices}
        shard = rundir.open_shard(directory, worker)
        self.runner = Runner(context, self.plans, servers, shard, self.config.option.case)

    def finish(self, status: int) -> int:
        """Accounts for every planned cell, writes the report, and returns the exit status."""
        assert self.directory is not None
        merged = rundir.merge([self.directory])
        chosen = [item for item in self.catalog.items if item.id in merged.items]
        only = self.config.option.case
        cells = {(c.id, str(p.device), p.mode) for item in chosen for c, p in planned(item, self.plans, only)}
        missing = sorted(cells - merged.done)
        info = self.info
        info.planned, info.recorded, info.damaged = len(cells), len(cells) - len(missing), merged.damaged
        info.not_run = [
            {"case": c, "device": d, "mode": m, "why": "cut off" if (c, d, m) in merged.started else "never started"}
            for c, d, m in missing
        ]
        info.deselected = sorted({i.id for i in self.catalog.items} - merged.items)
        info.ended = datetime.now(UTC).isoformat(timespec="seconds")
        verdicts = [record.verdict for record in merged.records]
        status = exit_status(status, verdicts, bool(missing))
        info.state = {2: "interrupted", 3: "fault"}.get(status, "complete")
        info.exit_status = status
        info.save(self.directory)
        return status


def exit_status(status: int, verdicts: list[str], missing: bool) -> int:
    """The session's exit status from pytest's own, the verdicts, and whether planned cells are without a result."""
    if status in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        return int(status)
    if status == pytest.ExitCode.INTERNAL_ERROR or "error" in verdicts or missing:
        return int(pytest.ExitCode.INTERNAL_ERROR)
    if verdicts and set(verdicts) == {"unavailable"}:
        return int(pytest.ExitCode.INTERNAL_ERROR)  # nothing was tested: that is no success
    return int(status)


def _one_of(what: str, name: str, there: tuple[str, ...]) -> str:
    if name not in there:
        raise ValueError(f"no {what} {name!r}; there is {', '.join(there)}")
    return name


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _memory(device: Device) -> int:
    """What a server may allocate: a CPU server its share of the machine's memory; drivers of others map far more."""
    if device.type != "cpu":
        return 0
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(4 << 30, int(0.8 * total) // workers)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _runs_suites(config: pytest.Config) -> bool:
    """Whether the paths on the command line take in the generic test."""
    suites = (ROOT / "suites").resolve()
    paths = [Path(config.invocation_params.dir, arg.split("::")[0]).resolve() for arg in config.args]
    return any(p == suites or suites in p.parents or p in suites.parents for p in paths)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if not _runs_suites(config):
        return
    session = config.stash[_session] = Session(config)
    if config.option.collectonly:
        return
    if _is_worker(config):
        given = config.workerinput["opdiff"]
        session.start(Path(given["directory"]), rundir.RunInfo(**given["info"]), config.workerinput["workerid"])
        return
    session.open()
    assert session.directory is not None
    config.option.xmlpath = config.option.xmlpath or str(session.directory / "junit.xml")
    if not config.getoption("numprocesses", None):
        session.start(session.directory, session.info, "main")


def pytest_configure_node(node: Any) -> None:
    """Hands the run to an xdist worker."""
    session = node.config.stash.get(_session, None)
    if session:
        node.workerinput["opdiff"] = {"directory": str(session.directory), "info": asdict(session.info)}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "item" in metafunc.fixturenames:
        items = metafunc.config.stash[_session].items
        metafunc.parametrize("item", items, ids=[item.id for item in items])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what an empty parameter set stands for: nothing selected must not look like a skipped test."""
    items[:] = [i for i in items if not ("item" in getattr(i, "fixturenames", ()) and not isinstance(_item(i), Item))]


def _item(item: pytest.Item) -> Any:
    return item.callspec.params.get("item") if hasattr(item, "callspec") else None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    ours = session.config.stash.get(_session, None)
    if ours and ours.runner:
        ours.runner.shard.write("plan", items=[_item(i).id for i in session.items if isinstance(_item(i), Item)])


@pytest.fixture
def check(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Callable[[Item], None]:
    """Runs an item, and fails with every failing record and the commands that rerun them."""
    runner = request.config.stash[_session].runner
    assert runner is not None

    def run(item: Item) -> None:
        records = runner.run(item)
        record_property("records", len(records))
        failing = [record for record in records if record.failing]
        if failing:
            pytest.fail("\n".join(report(failing)), pytrace=False)
        if all(record.verdict == "unavailable" for record in records):
            reasons = {record.detail for record in records}
            pytest.fail(f"{item.id}: nothing was tested: {'; '.join(sorted(reasons))}", pytrace=False)

    return run


def report(failing: list[Record]) -> Iterator[str]:
    """One line a failing record, each command that reruns them once."""
    for record in failing:
        yield sentence(record)
    for command in dict.fromkeys(record.rerun for record in failing):
        yield f"  rerun: {command}"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    ours = session.config.stash.get(_session, None)
    if not ours or not ours.directory:
        return
    if ours.runner:
        ours.runner.close()
    if _is_worker(session.config):
        return
    session.exitstatus = ours.finish(int(exitstatus))
    session.config.hook.pytest_opdiff_report(directory=ours.directory, info=ours.info)
    latest = ROOT / "runs" / "latest"
    if ours.directory.parent.resolve() == latest.parent.resolve():
        temporary = latest.with_name(f"latest-{os.getpid()}")
        temporary.symlink_to(ours.directory.name)
        os.replace(temporary, latest)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    ours = config.stash.get(_session, None)
    if ours and ours.directory and ours.info.ended:
        terminalreporter.section("tf-opdiff")
        for line in config.hook.pytest_opdiff_summary(directory=ours.directory, info=ours.info):
            terminalreporter.write_line(line)
