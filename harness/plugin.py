"""Plugin: how pytest selects items, runs them, and ends.

Exit status: 0 clean; 1 discrepancies; 2 interrupted, with a report that says so; 3 the suite's own fault, such as a
broken reference, an op that ran elsewhere than planned, or a planned cell without a result; 4 wrong usage; 5 nothing
was selected.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from harness import rundir
from harness.catalog import Item
from harness.devices import ROOT
from harness.plan import MODES
from harness.record import Record, encodable
from harness.session import Session
from harness.spec import TIERS
from harness.verdict import sentence

_session = pytest.StashKey[Session]()


class Hooks:
    """What conftest may answer."""

    @pytest.hookspec
    def pytest_opdiff_report(self, directory: Path, info: rundir.RunInfo) -> None:
        """Writes the report of a run that ended."""

    @pytest.hookspec(firstresult=True)
    def pytest_opdiff_summary(self, directory: Path, info: rundir.RunInfo) -> list[str] | None:
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
    group.addoption("--maturity", metavar="FILE", help="what a device is to have kernels for; see docs/vendors.md")
    group.addoption("--run-dir", metavar="DIR", help="where the run is kept; default: a new one under runs/")
    group.addoption("--shard", metavar="I/N", help="the I-th of N parts of the selection, about as long as each other")
    told = "go on with a run that was cut off; devices, modes, tier and cases are those of the run"
    group.addoption("--resume", metavar="RUN", help=told)
    told = "run items on the nodes of a Ray cluster, HOST:PORT or local; what `python -m harness campaign` does"
    group.addoption("--campaign", metavar="ADDRESS", help=told)
    kept = ROOT / "recordings"
    group.addoption("--recordings", default=str(kept), metavar="DIR", help="where recorded devices are; recordings/")
    group.addoption("--no-sweep", action="store_true", help="leave out the cases of every input of a 16-bit dtype")
    group.addoption("--no-repro", action="store_true", help="do not write and run a script for each finding")
    group.addoption("--op-timeout", type=float, default=120.0, metavar="S", help="seconds after which a run has hung")
    parser.addini("opdiff_suites", "the module or package that holds the suites", default="suites")
    parser.addini("opdiff_known", "the file of known failures", default="suites/known.toml")


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _runs_suites(config: pytest.Config) -> bool:
    """Whether the paths on the command line take in the generic test.

    A family's file or folder stands for the generic test with `--op FAMILY`.
    """
    suites = (ROOT / "suites").resolve()
    paths = [Path(config.invocation_params.dir, arg.split("::")[0]).resolve() for arg in config.args]
    for i, path in enumerate(paths):
        family = path.relative_to(suites).parts[0] if suites in path.parents and path.exists() else "test_"
        if not family.startswith("test_"):
            config.args[i] = str(suites / "test_ops.py")
            config.option.op = [*config.option.op, family.removesuffix(".py")]
    return any(p == suites or suites in p.parents or p in suites.parents for p in paths)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if not _runs_suites(config):
        return
    session = config.stash[_session] = Session(config)
    if not session.items:
        pytest.exit("nothing is selected: no spec has this tier, mode, op and case together", returncode=5)
    if config.option.collectonly:
        return
    if _is_worker(config):
        worker = getattr(config, "workerinput")  # noqa: B009  xdist adds it
        given = worker["opdiff"]
        session.start(Path(given["directory"]), rundir.RunInfo(**given["info"]), worker["workerid"])
        return
    session.open()
    assert session.directory is not None
    config.invocation_params = replace(config.invocation_params, args=joined(config.invocation_params.args))
    config.option.xmlpath = config.option.xmlpath or str(session.directory / "junit.xml")
    if not config.getoption("numprocesses", None):
        session.start(session.directory, session.info, "main")


def joined(arguments: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    """The arguments with `--run-dir DIR`, and others that take a directory, as one word.

    xdist's workers read the command line anew, before they know the option: the directory, which is there by now, would
    pass for a path to collect, and move the root.
    """
    words = [str(a) for a in arguments]
    for option in ("--run-dir", "--recordings", "--resume"):
        while option in words:
            at = words.index(option)
            words[at : at + 2] = ["=".join(words[at : at + 2])]
    return tuple(words)


def pytest_configure_node(node: Any) -> None:
    """Hands the run to an xdist worker."""
    session = node.config.stash.get(_session, None)
    if session:
        node.workerinput["opdiff"] = {"directory": str(session.directory), "info": asdict(session.info)}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "item" in metafunc.fixturenames:
        items = metafunc.config.stash[_session].items
        metafunc.parametrize("item", items, ids=[item.id for item in items])


def _item(item: pytest.Item) -> Any:
    return item.callspec.params.get("item") if hasattr(item, "callspec") else None


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    ours = session.config.stash.get(_session, None)
    if ours and ours.runner:
        ours.runner.plan([_item(i) for i in session.items if isinstance(_item(i), Item)])


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
            pytest.fail(encodable("\n".join(report(failing))), pytrace=False)
        if all(record.verdict == "unavailable" for record in records):
            reasons = {record.detail for record in records}
            pytest.skip(
                encodable(f"unavailable: {'; '.join(sorted(reasons))}")
            )  # a run of nothing else is red: Session.finish

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
        for line in ours.runner.notes if ours.runner else ():
            terminalreporter.write_line(line)
        for line in config.hook.pytest_opdiff_summary(directory=ours.directory, info=ours.info):
            terminalreporter.write_line(line)
