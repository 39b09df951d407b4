"""Plugin: how pytest selects items, runs them, and ends.

Exit status: 0 clean; 1 discrepancies; 2 interrupted, with a report that says so; 3 the suite's own fault, such as a
broken reference, an op that ran elsewhere than planned, or a planned cell without a result; 4 wrong usage; 5 nothing
was selected.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tf_opdiff.harness.judge.wording import sentence
from tf_opdiff.harness.paths import KNOWN, ROOT, SUITES
from tf_opdiff.harness.run.options import CAMPAIGN, OPTIONS
from tf_opdiff.harness.run.session import Session
from tf_opdiff.harness.spec.catalog import Item, unknown
from tf_opdiff.harness.store import rundir
from tf_opdiff.harness.store.record import Record, Unkept
from tf_opdiff.harness.system.interrupt import Interrupts
from tf_opdiff.harness.system.progress import IN_LOG, ON_TERMINAL, Progress
from tf_opdiff.harness.system.terminal import safe

_session = pytest.StashKey[Session]()
_interrupts = pytest.StashKey[Interrupts]()
#: What a worker says at its end to the controlling process: why its results can't be kept.
_UNKEPT = "opdiff-unkept"
#: What pytest calls an item.
_NODE = re.compile(r".*::test_op\[(.+)\]")


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
    for option in (*OPTIONS, CAMPAIGN):
        group.addoption(option.flag, **option.settings)
    parser.addini("opdiff_suites", "the module or package that holds the suites", default=SUITES)
    parser.addini("opdiff_known", "the file or folder of known failures", default=KNOWN)


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, Any, Any]:
    """Has xdist, where it is loaded and used, deal out items as they end and replace every worker that dies."""
    option = config.option
    if getattr(option, "numprocesses", None) or getattr(option, "tx", None):
        option.dist = "worksteal" if option.dist == "no" else option.dist
        option.maxworkerrestart = "1000" if option.maxworkerrestart is None else option.maxworkerrestart
    return (yield)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _within(config: pytest.Config) -> list[tuple[str, str]] | None:
    """What the paths on the command line select of the suites, as `Catalog.select` takes it; None if nothing.

    A module of suites, such as `suites/ops/math/sign.py` or `suites/ops/math/sign.py::sign`, stands for the generic
    test, which takes its place among the arguments.

    Raises:
      pytest.UsageError: there is no such file.
    """
    suites = (ROOT / "suites").resolve()
    generic = suites / "test_ops.py"
    scopes: list[tuple[str, str]] = []
    for i, argument in enumerate(config.args):
        place, _, name = argument.partition("::")
        path = Path(config.invocation_params.dir, place).resolve()
        if path not in (suites, *suites.parents) and suites not in path.parents:
            continue
        if suites / "tests" in (path, *path.parents):  # they are the project's own
            continue
        if not path.exists():
            raise pytest.UsageError(unknown("file", place, {str(p.relative_to(ROOT)) for p in suites.rglob("*.py")}))
        if suites in (path, *path.parents) or name:
            config.args[i] = str(generic)
        inner = suites in path.parents and path != generic
        scopes.append((_module(path) if inner else "", name))
    if ("", "") in scopes:
        return []
    return scopes or None


def _module(path: Path) -> str:
    """The name of the module or package at a path in the suites."""
    inner = path.relative_to(ROOT / "suites").with_suffix("").parts
    return ".".join((SUITES, *inner)).removesuffix(".__init__")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    try:
        _configure(config)
    except pytest.UsageError as error:  # pytest prints it as it is, and it may quote a run from anywhere
        raise pytest.UsageError(*map(safe, map(str, error.args))) from error


def _configure(config: pytest.Config) -> None:
    """Selects the items and, in the controlling process, opens the run.

    Raises:
      pytest.UsageError: something that was asked for does not exist, or the run can't be opened.
    """
    within = _within(config)
    if within is None:
        return
    session = config.stash[_session] = Session(config, within)
    if not session.items:
        pytest.exit("nothing is selected: no item is of this path, tier, mode, op and case together", returncode=5)
    if config.option.collectonly:
        return
    if _is_worker(config):
        worker = getattr(config, "workerinput")  # noqa: B009  xdist adds it
        given = worker["opdiff"]
        session.start(Path(given["directory"]), rundir.RunInfo(**given["info"]), worker["workerid"])
        return
    config.stash[_interrupts] = Interrupts(session.interrupted)
    config.stash[_interrupts].install()
    session.open()
    config.stash[_interrupts].install()  # Ray has put a handler of its own in the place of one
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


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hands the run to an xdist worker."""
    session = node.config.stash.get(_session, None)
    if session:
        node.workerinput["opdiff"] = {"directory": str(session.directory), "info": asdict(session.info)}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Takes up why an xdist worker stopped the run."""
    session = node.config.stash.get(_session, None)
    if session:
        session.unkept = session.unkept or getattr(node, "workeroutput", {}).get(_UNKEPT, "")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "item" in metafunc.fixturenames:
        items = metafunc.config.stash[_session].items
        metafunc.parametrize("item", items, ids=[item.id for item in items])


def _item(item: pytest.Item) -> Any:
    return item.callspec.params.get("item") if hasattr(item, "callspec") else None


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Begins to tell how the run stands, in the controlling process."""
    ours = session.config.stash.get(_session, None)
    if ours and ours.directory and not _is_worker(session.config):
        ours.progress = _teller(session.config)
        session.config.pluginmanager.register(Counter(ours.progress), "opdiff-counter")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    ours = session.config.stash.get(_session, None)
    if ours and ours.runner:
        items = [_item(i) for i in session.items if isinstance(_item(i), Item)]
        ours.runner.plan(items)
        ours.begin((item.id for item in items), 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Sequence[str]) -> None:
    """The first of xdist's workers says what is going to be run."""
    ours = node.config.stash.get(_session, None)
    if ours:
        ours.begin(filter(None, map(_id, ids)), node.workerinput["workercount"])


def _id(nodeid: str) -> str:
    """The id of the item that pytest knows by this name; empty if it is another test."""
    found = _NODE.fullmatch(nodeid)
    return found[1] if found else ""


class Counter:
    """Counts the items that are done, in the controlling process."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed:
            self._progress.done(_id(report.nodeid), report.failed)


def _teller(config: pytest.Config) -> Progress:
    """Tells how the run stands in lines of their own, between the dots that pytest prints."""
    reporter = config.pluginmanager.getplugin("terminalreporter")

    def tell(text: str) -> None:
        if reporter and config.option.verbose > -2:
            reporter.ensure_newline()
            if config.get_terminal_writer().width_of_current_line:
                reporter.write_line("")
            reporter.write_line(f"tf-opdiff: {text}")

    return Progress(tell, ON_TERMINAL if reporter and reporter.isatty else IN_LOG)


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, Any, Any]:
    """Ends the run with its report where xdist itself fails, as when a worker dies while it takes another's place."""
    ours = session.config.stash.get(_session, None)
    try:
        return (yield)
    except (OSError, EOFError, RuntimeError, AssertionError, KeyError) as why:
        if not ours or not getattr(session.config.option, "numprocesses", None):
            raise
        ours.faults.append(f"xdist failed, so that not all was run: {type(why).__name__}: {why}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # the worker that xdist was starting
            traceback.clear_frames(why.__traceback__)
        return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shortens an item's entry in pytest's summary to its first record; with CI set, pytest would repeat them all."""
    report = yield
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None and "check" in getattr(item, "fixturenames", ()):
        crash.message = crash.message.partition("\n")[0]
    return report


@pytest.fixture
def check(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Callable[[Item], None]:
    """Runs an item, and fails with every failing record and the commands that rerun them."""
    ours = request.config.stash[_session]
    runner = ours.runner
    assert runner is not None

    def run(item: Item) -> None:
        try:
            records = runner.run(item)
        except Unkept as why:
            ours.unkept = str(why)
        if ours.unkept:
            request.session.shouldstop = f"the run can't be kept: {ours.unkept}"
            pytest.fail(safe(request.session.shouldstop), pytrace=False)
        record_property("records", len(records))
        failing = [record for record in records if record.failing]
        if failing:
            pytest.fail(safe("\n".join(report(failing))), pytrace=False)
        if all(record.verdict == "unavailable" for record in records):
            reasons = {record.detail for record in records}
            pytest.skip(
                safe(f"unavailable: {'; '.join(sorted(reasons))}")
            )  # a run of nothing else is red: Session.finish

    return run


def report(failing: list[Record]) -> Iterator[str]:
    """One line a failing record, each command that reruns them once."""
    for record in failing:
        yield sentence(record)
    for command in dict.fromkeys(record.rerun for record in failing):
        yield f"  rerun: {command}"


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Generator[None, Any, Any]:
    """Ends a run after the other plugins: whatever goes wrong in writing it costs a line and has exit status 3."""
    ours = session.config.stash.get(_session, None)
    if not ours or not ours.directory:
        return (yield)
    if _is_worker(session.config):
        _leave(ours)
        getattr(session.config, "workeroutput")[_UNKEPT] = ours.unkept  # noqa: B009  xdist adds it
        return (yield)
    status, gone = int(exitstatus), ours.gone
    try:
        try:
            yield  # junit.xml; the ends of xdist's workers
        except KeyboardInterrupt:
            status = pytest.ExitCode.INTERRUPTED
        except OSError as why:
            ours.unkept = ours.unkept or str(why)
        finally:
            _leave(ours)
        _end(session, ours, status)
    except KeyboardInterrupt:
        session.exitstatus = pytest.ExitCode.INTERRUPTED
        ours.interrupted()
        print(f"\ninterrupted: the report is not whole; python -m reports {ours.directory} writes it", file=sys.stderr)
    except (Unkept, OSError) as why:
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        ours.give_up(str(why), gone)
    session.config.stash[_interrupts].over()


def pytest_unconfigure(config: pytest.Config) -> None:
    ours = config.stash.get(_session, None)
    if ours and not _is_worker(config):
        ours.abandon()


def _leave(ours: Session) -> None:
    """Ends what runs the items."""
    try:
        if ours.runner:
            ours.runner.close()
    except Unkept as why:
        ours.unkept = ours.unkept or str(why)


def _end(session: pytest.Session, ours: Session, status: int) -> None:
    """Balances the books, has the report written, and points `runs/latest` to it."""
    if ours.progress and ours.begun:
        ours.progress.say("no more items; the results are being read")
    session.exitstatus = ours.finish(status, stopped=rundir.STOPPED if session.shouldfail else "")
    if ours.directory is None:
        return
    if ours.progress:
        ours.progress.say(f"{ours.info.recorded:,} cells are recorded; the report is being written")
    session.config.hook.pytest_opdiff_report(directory=ours.directory, info=ours.info)
    latest = ROOT / "runs" / "latest"
    if ours.directory.parent.resolve() == latest.parent.resolve():
        temporary = latest.with_name(f"latest-{os.getpid()}")
        temporary.symlink_to(ours.directory.name)
        os.replace(temporary, latest)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    ours = config.stash.get(_session, None)
    if ours and ours.unkept:
        terminalreporter.section("tf-opdiff")
        terminalreporter.write_line(safe(f"the run can't be kept: {ours.unkept}"), red=True)
    elif ours and ours.directory and ours.info.ended:
        terminalreporter.section("tf-opdiff")
        for line in ours.runner.notes if ours.runner else ():
            terminalreporter.write_line(safe(line))
        for line in config.hook.pytest_opdiff_summary(directory=ours.directory, info=ours.info):
            terminalreporter.write_line(line)
