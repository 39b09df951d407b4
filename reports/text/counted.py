"""Counted: counts and lists of names in words."""

from __future__ import annotations

from collections.abc import Collection

#: Names that a list gives before it counts the rest.
_NAMED = 3


def many(n: int, noun: str) -> str:
    """A count with its noun: `1 record`, `2,000 records`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def names(specs: Collection[str]) -> str:
    """The names of specs; of more than four, the first three and how many more."""
    if len(specs) <= _NAMED + 1:
        return ", ".join(specs)
    return f"{', '.join(list(specs)[:_NAMED])} and {len(specs) - _NAMED:,} more specs"


def and_more(n: int, *, indent: str = "", noun: str = "") -> list[str]:
    """The line behind a list that leaves `n` rows out; no line if it leaves none out."""
    return [f"{indent}and {n:,} more{f' {noun}' if noun else ''}"] if n > 0 else []
