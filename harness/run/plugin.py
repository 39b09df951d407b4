"""Plugin: pytest's options of a run, and their first check; then it registers `session_hooks`, which does the rest.

Nothing is imported here that takes time, such as NumPy, so a wrong option is answered at once.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tf_opdiff.harness.device.processes import fork_server
from tf_opdiff.harness.paths import KNOWN, SUITES
from tf_opdiff.harness.run.options import CAMPAIGN, OPTIONS, check, names_recording, server_commands
from tf_opdiff.harness.run.sessions.path_arguments import scopes_of
from tf_opdiff.harness.run.sessions.xdist_worker import is_worker
from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.system.interrupt import Interrupts
from tf_opdiff.harness.system.terminal import safe

if TYPE_CHECKING:
    from tf_opdiff.harness.judge.known_failures.known import Known
    from tf_opdiff.harness.store.run_directories.run_info import RunInfo


class Hooks:
    """Hooks of this plugin, for a conftest to implement."""

    @pytest.hookspec
    def pytest_opdiff_waiting(self, items: int) -> None:
        """So many items are selected, and TensorFlow is being imported: work that is needed later can be done now."""

    @pytest.hookspec
    def pytest_opdiff_ended(self, directory: Path) -> None:
        """All items have ended, and their shards are whole; the accounts of the run come next, and then its report."""

    @pytest.hookspec
    def pytest_opdiff_report(self, directory: Path, info: RunInfo, known: Known) -> None:
        """Writes the report of a run that has ended, and was judged by these known failures."""

    @pytest.hookspec(firstresult=True)
    def pytest_opdiff_summary(self, directory: Path, info: RunInfo) -> list[str] | None:
        """The last lines of the terminal's output."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("opdiff", "tf-opdiff")
    for option in (*OPTIONS, CAMPAIGN):
        group.addoption(option.flag, **option.settings)
    parser.addini(
        "opdiff_suites", "the modules or packages that hold the suites, with spaces between them", default=SUITES
    )
    parser.addini("opdiff_known", "the file or folder of known failures", default=KNOWN)


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, Any, Any]:
    """Makes xdist, if it is used, hand out items as others end and replace every worker that dies."""
    option = config.option
    if getattr(option, "numprocesses", None) or getattr(option, "tx", None):
        option.dist = "worksteal" if option.dist == "no" else option.dist
        option.maxworkerrestart = "1000" if option.maxworkerrestart is None else option.maxworkerrestart
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    try:
        _configure(config)
    except BaseException as error:
        fork_server.stop_early()
        if isinstance(error, pytest.UsageError):  # pytest prints it unchanged, and it may quote a file from anywhere
            raise pytest.UsageError(*map(safe, map(str, error.args))) from error
        raise


def _configure(config: pytest.Config) -> None:
    """Checks the options, starts the fork server, and only then imports the rest, while TensorFlow is imported.

    Raises:
      pytest.UsageError: an option names something that does not exist, or the run can't be opened.
    """
    scopes = scopes_of(config)
    if scopes is None:
        return
    try:
        check(config.option)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    interrupts = Interrupts()
    if not (is_worker(config) or config.option.collectonly):
        interrupts.install()
    if _runs_tensorflow(config):
        fork_server.start_early()
    from tf_opdiff.harness.run.sessions import session_hooks, xdist_faults

    config.pluginmanager.register(session_hooks, "opdiff-session")
    config.pluginmanager.register(xdist_faults, "opdiff-xdist-faults")
    session_hooks.begin(config, scopes, interrupts)


def _runs_tensorflow(config: pytest.Config) -> bool:
    """Whether this process will start device servers, as far as its options say."""
    option = config.option
    if option.collectonly or option.campaign or is_worker(config):
        return False
    commands = server_commands(option)
    names = [name for name in option.device if not names_recording(name, Path(option.recordings))]
    return not option.device or any(Device.parse(name, commands).local for name in names)
