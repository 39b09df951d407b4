"""Processes: the fork server and its children, and the channels and limits of each."""

#: The modules that other rooms may import.
__all__ = (
    "channel",
    "fork_server",
    "locks",
    "log",
    "peer",
    "process",
    "python_program",
    "server_handle",
    "server_python",
    "shared_fork_server",
    "shared_memory",
)
