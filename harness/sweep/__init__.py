"""Exhaustive tests: a unary elementwise spec on every bit pattern of a dtype."""

#: The modules that other rooms may import.
__all__ = (
    "block_promises",
    "command",
    "pieces",
    "search_oracle",
    "sweep",
    "tally_rows",
    "workers",
)
