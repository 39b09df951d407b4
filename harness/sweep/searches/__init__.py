"""Searches: the inputs with the largest errors, found by sampling."""

#: The modules that other rooms may import.
__all__ = ("search_oracle",)
