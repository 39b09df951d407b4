"""Test runner: selects items, runs their cases under every plan, and ends a run."""

#: The modules that other rooms may import.
__all__ = (
    "campaign_command",
    "list_devices",
    "merge_runs",
    "node",
    "one_case",
    "plugin",
    "rejudge",
)
