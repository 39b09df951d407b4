"""Minimal reproducers: a program of its own for each finding, run and listed."""

#: The modules that other rooms may import.
__all__ = (
    "archive",
    "attribute",
    "attribution",
    "earlier_programs",
    "findings",
    "listing",
    "outcome",
    "override_listing",
    "program_digest",
    "reproduce",
    "run_scripts",
    "setting_trials",
    "upstream_issue",
)
