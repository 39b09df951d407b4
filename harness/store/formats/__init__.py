"""Formats: JSON, Parquet and plain values; files that may be untrusted."""

#: The modules that other rooms may import.
__all__ = (
    "json_text",
    "parquet",
    "plain_values",
    "untrusted",
)
