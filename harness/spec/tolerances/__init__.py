"""Tolerances: how far results may be off, by quantity, element and mode."""

#: The modules that other rooms may import.
__all__ = (
    "budget",
    "by_mode",
    "ceiling",
    "loose",
    "precision",
)
