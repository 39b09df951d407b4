"""Exhaustive tests: a unary elementwise spec on every bit pattern of a dtype."""

#: The modules that other rooms may import.
__all__ = (
    "command",
    "sweep",
    "workers",
)
