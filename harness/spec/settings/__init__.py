"""Settings: variants of devices, traits of processors, and passes that change programs."""

#: The modules that other rooms may import.
__all__ = (
    "program_settings",
    "rewrites",
    "trait",
    "variant",
)
