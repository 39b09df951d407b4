"""Progress lines: the progress of a run between the dots that pytest prints, in the controlling process."""

from __future__ import annotations

import re

import pytest

from tf_opdiff.harness.system.progress import IN_LOG, ON_TERMINAL, Progress

#: pytest's name of an item: the id of the generic test with the id of the item.
_NODE = re.compile(r".*::test_op\[(.+)\]")


def item_id(nodeid: str) -> str:
    """The id of the item that pytest calls `nodeid`; empty if that is another test."""
    match = _NODE.fullmatch(nodeid)
    return match[1] if match else ""


def progress_on(config: pytest.Config) -> Progress:
    """A progress that prints to pytest's terminal, in lines of its own."""
    reporter = config.pluginmanager.getplugin("terminalreporter")

    def write(text: str) -> None:
        if reporter and config.option.verbose > -2:
            reporter.ensure_newline()
            if config.get_terminal_writer().width_of_current_line:
                reporter.write_line("")
            reporter.write_line(f"tf-opdiff: {text}")

    return Progress(write, ON_TERMINAL if reporter and reporter.isatty else IN_LOG)


class ItemCounter:
    """A pytest plugin that counts finished items."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed:
            self._progress.done(item_id(report.nodeid), report.failed)
