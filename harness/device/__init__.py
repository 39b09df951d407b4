"""Device servers: processes that own a device and run programs on it. TensorFlow is imported in this room alone."""

#: The modules that other rooms may import.
__all__ = (
    "channel",
    "dependence",
    "fork_server",
    "kernel_list",
    "locks",
    "log",
    "observation",
    "peer",
    "pool",
    "probe",
    "process",
    "repeat",
    "request",
    "results",
    "server_handle",
    "server_python",
    "shared_fork_server",
    "shared_memory",
    "tensorflow_setup",
)
