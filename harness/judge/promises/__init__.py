"""Promises: expected results, and how far results may be off."""

#: The modules that other rooms may import.
__all__ = (
    "allowed",
    "expectation",
    "loose_bounds",
    "promise_cache",
    "reference",
    "upstream",
    "want",
)
