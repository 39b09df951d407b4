"""Markdown: the parts of generated pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

NOTE = "<!-- Written from the code by `make reference`. Do not edit. -->"


def page(lines: Iterable[str]) -> str:
    """The text of a generated page."""
    return "\n".join([NOTE, "", *lines]).rstrip() + "\n"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """The lines of a table, and an empty line."""
    head = list(heads)
    for cells in (head, ["---"] * len(head), *(list(row) for row in rows)):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"
    yield ""


def code(name: object) -> str:
    """A name as code."""
    return f"`{name}`"


def docstring(text: str) -> Iterator[str]:
    """A docstring as Markdown: the entries of `Args`, `Attributes` and `Raises` become lists."""
    for line in text.splitlines():
        if re.fullmatch(r"(Args|Attributes|Raises):", line):
            yield from (f"**{line.rstrip(':')}**", "")
        elif entry := re.fullmatch(r"  (\w+): (.*)", line):
            yield f"- `{entry[1]}`: {entry[2]}"
        else:
            yield line.removeprefix("  ")


def first_paragraph(path: Path) -> str:
    """The first paragraph of a module's docstring, in one line."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())
