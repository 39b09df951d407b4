"""Connects pytest with the harness's plugin and with the reports."""

import json
import os
from dataclasses import asdict
from pathlib import Path

pytest_plugins = ["tf_opdiff.harness.run.plugin"]
#: The most items of a run for whose report everything is imported before the run.
FEW = 20


def pytest_configure(config):
    """Registers the hooks that write the report; pandas is imported when they run, so that collecting is quick."""
    config.pluginmanager.register(_Reporter(config), "opdiff-report")


def pytest_opdiff_waiting(items):
    """Imports what the report of a small run needs; that of a large run has a process of its own."""
    if items <= FEW:
        from tf_opdiff.reports.whole_report import warm_up

        warm_up()


class _Reporter:
    """Writes the report of a run: in this process, or in one of its own if the run is large."""

    def __init__(self, config):
        self.config, self.process, self.summary = config, None, None

    def pytest_opdiff_ended(self, directory):
        from tf_opdiff.harness.store.run_directories.rundir import is_large
        from tf_opdiff.harness.system.companion import Companion

        if is_large(directory):
            self.process = Companion("tf_opdiff.reports.whole_report", directory, group=True)

    def pytest_opdiff_report(self, directory, info, known):
        xml = self.config.option.xmlpath
        path = Path(os.path.expandvars(xml)).expanduser().absolute() if xml else None
        suites, files = self.config.getini("opdiff_suites"), self.config.getini("opdiff_known")
        if self.process:
            request = {"info": asdict(info), "xml": str(path or ""), "suites": suites, "known": files}
            self.process.ask(json.dumps(request).encode())
            self.summary = json.loads(self.process.answer())
        else:
            from tf_opdiff.harness.store.run_directories.judges import JudgedBy
            from tf_opdiff.reports.whole_report import summarised
            from tf_opdiff.reports.write import Report

            with Report(directory) as report:
                self.summary = summarised(report, info, xml=path, judged_by=JudgedBy(suites, files), known=known)

    def pytest_opdiff_summary(self, directory, info):
        """The last lines of the terminal's output."""
        if self.summary is not None:
            return self.summary
        from tf_opdiff.reports.analysis.comparisons.since_last_run import earlier
        from tf_opdiff.reports.ci.github import annotated
        from tf_opdiff.reports.data.causes.discrepancies import of_run
        from tf_opdiff.reports.data.run_data.load import load
        from tf_opdiff.reports.text.sentences.summary import terminal

        records = load(directory)
        ranked = of_run(directory, records, before=earlier(directory, info))
        return terminal(records, info, ranked, directory) + annotated(info, ranked, os.environ)

    def pytest_unconfigure(self):
        if self.process:
            self.process.stop()
