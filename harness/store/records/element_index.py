"""Element index: the index of an array's element in records: `[3, 4]`, or `[]` in an array of rank 0."""

from __future__ import annotations

import re

_FORM = re.compile(r"\[(?:\d{1,20}(?:, \d{1,20})*)?\]")


def index_text(index: tuple[int, ...] | None) -> str:
    """The text of an index in a record; empty for None."""
    return "" if index is None else str(list(index))


def parse_index(text: str) -> tuple[int, ...] | None:
    """The index in a record's text; None for any other text."""
    return tuple(map(int, re.findall(r"\d+", text))) if _FORM.fullmatch(text) else None
