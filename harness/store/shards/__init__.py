"""Shards: the files to which workers append the lines of cells."""

#: The modules that other rooms may import.
__all__ = (
    "cell_lines",
    "compressed",
    "finished_cells",
    "line_types",
    "merged",
    "partition",
    "read_lines",
    "rewrite_shards",
    "shard",
    "shard_arrays",
    "shard_records",
    "whole_lines",
)
