"""Differences: observed results compared with promised ones, element by element."""

#: The modules that other rooms may import.
__all__ = (
    "compare",
    "comparison",
    "detail",
    "difference",
    "error_bins",
    "error_points",
    "self_check",
    "simplest",
    "wording",
)
