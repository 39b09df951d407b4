"""Connects pytest with the harness's plugin and with the reports."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

pytest_plugins = ["tf_opdiff.harness.run.plugin"]


def pytest_configure(config):
    """Registers the hook that writes the report; pandas is imported when the hook runs, so that collecting is quick."""

    def pytest_opdiff_report(directory, info):
        from tf_opdiff.harness.store.judges import JudgedBy
        from tf_opdiff.reports.analysis.since_last_run import earlier
        from tf_opdiff.reports.ci import github
        from tf_opdiff.reports.write import write

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
    """The last lines of the terminal's output."""
    from tf_opdiff.reports.analysis.since_last_run import earlier
    from tf_opdiff.reports.ci.github import annotated
    from tf_opdiff.reports.data.discrepancies import of_run
    from tf_opdiff.reports.data.load import load
    from tf_opdiff.reports.text.summary import terminal

    records = load(directory)
    ranked = of_run(directory, records, before=earlier(directory, info))
    return terminal(records, info, ranked, directory) + annotated(info, ranked, os.environ)
