"""A plugin for pytest: a report that takes until a signal comes."""

import signal
import threading


def pytest_opdiff_report(directory):
    (directory / "reporting").touch()
    if threading.current_thread() is threading.main_thread():
        signal.pause()
