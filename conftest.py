"""What pytest needs to know: the harness's plugin, and the report that closes a run."""

pytest_plugins = ["harness.plugin"]


def pytest_opdiff_report(directory, info):
    """Writes the run's report; imported late, so that collecting stays quick."""
    from reports.write import write

    write(directory, info)


def pytest_opdiff_summary(directory, info):
    """The lines that close the terminal's output."""
    from reports.load import load
    from reports.summary import terminal

    return terminal(load(directory), info, directory)
