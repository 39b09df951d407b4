"""Session hooks: pytest's hooks, by which it selects items, runs them and ends; see `exit_status` for how it ends.

`plugin` registers this module once a session is known to run items: it imports NumPy, the judge and the rest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run.item_result import conclude
from tf_opdiff.harness.run.selection import Selection
from tf_opdiff.harness.run.sessions import session_end
from tf_opdiff.harness.run.sessions.path_arguments import joined
from tf_opdiff.harness.run.sessions.progress_lines import ItemCounter, item_id, progress_on
from tf_opdiff.harness.run.sessions.session import Session
from tf_opdiff.harness.run.sessions.xdist_worker import is_worker
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.store.run_directories.run_info import STOPPED, RunInfo
from tf_opdiff.harness.store.shards.shard import Unkept
from tf_opdiff.harness.system.interrupt import Interrupts
from tf_opdiff.harness.system.terminal import safe

SESSION = pytest.StashKey[Session]()
_interrupts = pytest.StashKey[Interrupts]()
#: The key under which a worker, at its end, tells the controlling process why its results cannot be saved.
_UNSAVED = "opdiff-unsaved"


def begin(config: pytest.Config, scopes: list[tuple[str, str]], interrupts: Interrupts) -> None:
    """Selects the items within `scopes` and, in the controlling process, opens the run.

    `interrupts` are installed in the controlling process.

    Raises:
      pytest.UsageError: an option names something that does not exist, or the run can't be opened.
    """
    session = config.stash[SESSION] = Session(config, Selection.of(config, scopes))
    if not session.selection.items:
        pytest.exit("nothing is selected: no item is of this path, tier, mode, op and case together", returncode=5)
    if config.option.collectonly:
        return
    if is_worker(config):
        worker = getattr(config, "workerinput")  # noqa: B009  xdist adds it
        run = worker["opdiff"]
        session.start(Path(run["directory"]), RunInfo(**run["info"]), worker["workerid"])
        return
    config.stash[_interrupts] = interrupts
    interrupts.give_up = session.interrupted
    session.use_the_wait()
    session.open()
    interrupts.install()  # again: Ray has replaced a handler by its own
    assert session.directory is not None
    config.invocation_params = replace(config.invocation_params, args=joined(config.invocation_params.args))
    config.option.xmlpath = config.option.xmlpath or str(session.directory / "junit.xml")
    if not config.getoption("numprocesses", None):
        session.start(session.directory, session.info, "main")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Hands the run to an xdist worker."""
    session = node.config.stash.get(SESSION, None)
    if session:
        node.workerinput["opdiff"] = {"directory": str(session.directory), "info": asdict(session.info)}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Notes why an xdist worker stopped the run."""
    session = node.config.stash.get(SESSION, None)
    if session:
        session.unsaved = session.unsaved or getattr(node, "workeroutput", {}).get(_UNSAVED, "")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "item" in metafunc.fixturenames:
        items = metafunc.config.stash[SESSION].selection.items
        metafunc.parametrize("item", items, ids=[item.id for item in items])


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Prepares the progress of the run, in the controlling process."""
    ours = session.config.stash.get(SESSION, None)
    if ours and ours.directory and not is_worker(session.config):
        ours.progress = progress_on(session.config)
        session.config.pluginmanager.register(ItemCounter(ours.progress), "opdiff-counter")


def items_of(session: pytest.Session) -> list[Item]:
    """The items of the tests that pytest has collected."""
    parameters = [i.callspec.params.get("item") for i in session.items if hasattr(i, "callspec")]
    return [item for item in parameters if isinstance(item, Item)]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    ours = session.config.stash.get(SESSION, None)
    if ours and ours.runner:
        items = items_of(session)
        ours.runner.plan(items)
        ours.begin_progress((item.id for item in items), 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Sequence[str]) -> None:
    """The first of xdist's workers tells which items will run."""
    ours = node.config.stash.get(SESSION, None)
    if ours:
        ours.begin_progress(filter(None, map(item_id, ids)), node.workerinput["workercount"])


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
    """Runs an item; fails with a line for each failing record, and with the commands that rerun them."""
    ours = request.config.stash[SESSION]
    runner = ours.runner
    assert runner is not None

    def run(item: Item) -> None:
        try:
            records = runner.run(item)
        except Unkept as why:
            ours.unsaved = str(why)
        if ours.unsaved:
            request.session.shouldstop = f"the results of the run cannot be saved: {ours.unsaved}"
            pytest.fail(safe(request.session.shouldstop), pytrace=False)
        record_property("records", len(records))
        conclude(records)

    return run


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Generator[None, Any, Any]:
    """Ends a run after the other plugins: an error in writing its outcome costs a line, and gives exit status 3."""
    ours = session.config.stash.get(SESSION, None)
    if not ours or not ours.directory:
        return (yield)
    if is_worker(session.config):
        session_end.close_runner(ours)
        getattr(session.config, "workeroutput")[_UNSAVED] = ours.unsaved  # noqa: B009  xdist adds it
        return (yield)
    status, deleted = int(exitstatus), ours.deleted
    try:
        try:
            yield  # junit.xml; the ends of xdist's workers
        except KeyboardInterrupt:
            status = pytest.ExitCode.INTERRUPTED
        except OSError as why:
            ours.unsaved = ours.unsaved or str(why)
        finally:
            session_end.close_runner(ours)
        _end(session, ours, status)
    except KeyboardInterrupt:
        session.exitstatus = pytest.ExitCode.INTERRUPTED
        ours.interrupted()
        print(f"\ninterrupted: the report is not whole; python -m reports {ours.directory} writes it", file=sys.stderr)
    except (Unkept, OSError) as why:
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        session_end.give_up(ours, str(why), deleted)
    session.config.stash[_interrupts].over()


def _end(session: pytest.Session, ours: Session, status: int) -> None:
    """Accounts for the run, has its report written, and lets `runs/latest` point to it."""
    if ours.progress and ours.progress_began:
        ours.progress.say("all items have ended; reading their results")
    if not ours.deleted:
        session.config.hook.pytest_opdiff_ended(directory=ours.directory)
    session.exitstatus = session_end.finish(ours, status, stopped=STOPPED if session.shouldfail else "")
    if ours.directory is None:
        return
    if ours.kernels:
        ours.kernels.finish()
    if ours.progress:
        ours.progress.say(f"{ours.info.recorded:,} cells are recorded; writing the report")
    session.config.hook.pytest_opdiff_report(directory=ours.directory, info=ours.info, known=ours.known)
    session_end.reported(ours)
    latest = ROOT / "runs" / "latest"
    if ours.directory.parent.resolve() == latest.parent.resolve():
        temporary = latest.with_name(f"latest-{os.getpid()}")
        temporary.symlink_to(ours.directory.name)
        os.replace(temporary, latest)
    session_end.tidy(ours, latest.parent)


def pytest_unconfigure(config: pytest.Config) -> None:
    ours = config.stash.get(SESSION, None)
    if ours and not is_worker(config):
        session_end.abandon(ours)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    ours = config.stash.get(SESSION, None)
    if ours and ours.unsaved:
        terminalreporter.section("tf-opdiff")
        terminalreporter.write_line(safe(f"the results of the run cannot be saved: {ours.unsaved}"), red=True)
    elif ours and ours.directory and ours.info.ended:
        terminalreporter.section("tf-opdiff")
        for line in (*(ours.runner.notes if ours.runner else ()), *ours.notes):
            terminalreporter.write_line(safe(line))
        for line in config.hook.pytest_opdiff_summary(directory=ours.directory, info=ours.info):
            terminalreporter.write_line(line)
