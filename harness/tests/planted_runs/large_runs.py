"""A plugin of pytest: every run is large, so that processes of their own write its report."""

import sys

import pytest

from tf_opdiff.harness.store.run_directories import rundir


@pytest.hookimpl(tryfirst=True)
def pytest_opdiff_waiting():
    sys.modules["conftest"].FEW = 0  # a large run has more items than those for which reports are imported early


@pytest.hookimpl(tryfirst=True)
def pytest_opdiff_ended():
    rundir.LARGE = 0


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"pandas is imported: {'pandas' in sys.modules}")
