"""Results store: records, shards, run directories and recordings."""
