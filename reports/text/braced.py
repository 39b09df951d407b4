"""Braced: many names in short, in the notation of shells."""

from __future__ import annotations

from collections.abc import Iterable


def braced(names: Iterable[str]) -> list[str]:
    """The names in order, those that differ after their last hyphen as one, such as `floor-{float32,float64}`."""
    ends: dict[str, list[str]] = {}
    for name in sorted(names):
        head, hyphen, end = name.rpartition("-")
        ends.setdefault(head + hyphen, []).append(end)
    return [head + (some[0] if len(some) == 1 else f"{{{','.join(some)}}}") for head, some in ends.items()]
