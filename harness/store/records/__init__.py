"""Records: verdicts as rows, and error profiles."""

#: The modules that other rooms may import.
__all__ = (
    "accuracy",
    "element_index",
    "error_profile",
    "record",
)
