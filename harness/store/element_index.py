"""Element index: the index of an array's element, as records write it: `[3, 4]`, or `[]` in an array of rank 0."""

from __future__ import annotations

import re

_FORM = re.compile(r"\[(?:\d{1,18}(?:, \d{1,18})*)?\]")


def index_text(index: tuple[int, ...] | None) -> str:
    """An index as a record has it; empty where there is none."""
    return "" if index is None else str(list(index))


def parse_index(text: str) -> tuple[int, ...] | None:
    """The index that a record has; None for any other text."""
    return tuple(map(int, re.findall(r"\d+", text))) if _FORM.fullmatch(text) else None
