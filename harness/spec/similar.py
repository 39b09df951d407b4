"""Similar: the message about an unknown name, with the known names that are like it."""

from __future__ import annotations

import difflib
from collections.abc import Set as AbstractSet


def unknown(noun: str, name: str, known: AbstractSet[str]) -> str:
    """The message that no `noun` has this name; it lists the known names, or only similar ones if more than 12."""
    near = sorted(known) if len(known) <= 12 else difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.4)
    return f"no {noun} {name!r}" + (f"; there is {', '.join(near)}" if near else "")
