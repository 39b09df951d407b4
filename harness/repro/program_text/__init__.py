"""Program text: Python functions written as programs that run alone."""

#: The modules that other rooms may import.
__all__ = ("program_digest",)
