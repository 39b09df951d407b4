"""Device servers: processes that own a device and run programs on it. TensorFlow is imported in this room alone."""

#: The modules that other rooms may import.
__all__ = (
    "observation",
    "pool",
    "repeat",
    "request",
)
