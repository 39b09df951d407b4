"""Planted faults: wrong results made of right ones, and which of them are noticed."""

#: The modules that other rooms may import.
__all__ = (
    "mutation",
    "unseen",
)
