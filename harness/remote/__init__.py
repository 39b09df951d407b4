"""Remote devices: device servers that a command starts, in another environment or on another machine."""

#: The modules that other rooms may import.
__all__ = (
    "devices_file",
    "facts",
    "remote_server",
)
