"""Results store: records, shards, run directories and recordings."""

#: The modules that other rooms may import.
__all__ = ()
