"""Inputs: the recipes and attributes of cases."""

#: The modules that other rooms may import.
__all__ = (
    "attrs",
    "elementary",
    "pickled",
    "recipes",
)
