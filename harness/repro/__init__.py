"""Minimal reproducers: a program of its own for each finding, run and listed."""

#: The modules that other rooms may import.
__all__ = (
    "archive",
    "earlier_programs",
    "findings",
    "listing",
    "override_listing",
    "reproduce",
    "upstream_issue",
)
