"""Recordings: a device's observations in a file, to compare with other devices."""

#: The modules that other rooms may import.
__all__ = (
    "rebase",
    "record_devices",
    "recorded_device",
    "recording",
    "recording_writer",
    "stored_run",
)
