"""Lists: raw ops, options, override cells and specs as text, and the tiers."""

#: The modules that other rooms may import.
__all__ = (
    "options",
    "override_cell",
    "raw_ops",
    "spec_list",
    "tiers",
)
