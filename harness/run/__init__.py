"""Test runner: selects items, runs their cases under every plan, and ends a run."""

#: The modules that other rooms may import.
__all__ = (
    "list_devices",
    "merge_runs",
    "one_case",
    "plugin",
    "rejudge",
)
