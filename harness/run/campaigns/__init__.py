"""Campaigns: runs over many machines, in batches."""

#: The modules that other rooms may import.
__all__ = (
    "campaign_command",
    "node",
)
