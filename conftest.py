"""What pytest needs to know: the harness's plugin, and the report that closes a run."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

pytest_plugins = ["harness.plugin"]


def pytest_configure(config):
    """Has the run's report written; imported late, so that collecting stays quick."""

    def pytest_opdiff_report(directory, info):
        from harness.judged import JudgedBy
        from reports import github
        from reports.since import earlier
        from reports.write import write

        xml = config.option.xmlpath
        path = Path(os.path.expandvars(xml)).expanduser() if xml else None
        judged_by = JudgedBy(config.getini("opdiff_suites"), config.getini("opdiff_known"))
        write(directory, info, xml=path, before=earlier(directory, info), judged_by=judged_by)
        try:
            github.summarise(directory / "summary.md", os.environ)
        except OSError as why:
            print(f"\nthe job summary can't be written: {why}", file=sys.stderr)

    config.pluginmanager.register(SimpleNamespace(pytest_opdiff_report=pytest_opdiff_report), "opdiff-report")


def pytest_opdiff_summary(directory, info):
    """The lines that close the terminal's output."""
    from reports.github import annotated
    from reports.load import load
    from reports.summary import terminal

    records = load(directory)
    return terminal(records, info, directory) + annotated(records, info, os.environ)
