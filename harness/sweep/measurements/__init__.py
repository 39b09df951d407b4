"""Measurements: promises of blocks of bit patterns, and the errors of results, counted."""

#: The modules that other rooms may import.
__all__ = (
    "block_promises",
    "pieces",
    "tally_rows",
)
