"""Known failures: entries, causes and maturity lists, and the records that they explain."""

#: The modules that other rooms may import.
__all__ = (
    "cause",
    "entry",
    "explanation",
    "known",
    "known_files",
    "maturity",
    "selectors",
)
