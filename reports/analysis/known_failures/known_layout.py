"""Layout: where each cause and each of its entries stands in the text of a file of known failures."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*'  # texts and comments
    r"|(?m:^)[ \t]*(?P<head>\[[^\[\]\n]*\])[ \t]*(?=#|\r?$|\n|\r\n)|(?m:^)[ \t]*entries[ \t]*=|[\[\]{}]",
    re.DOTALL,
)


class Span(NamedTuple):
    """A part of a text: its first position, and the one after its last."""

    start: int
    end: int


class CauseSpan(NamedTuple):
    """A cause's table, from its head to the last token, with the spans of the entries' inline tables, in order."""

    id: str
    whole: Span
    entries: list[Span]


def layout(text: str) -> list[CauseSpan]:
    """The causes of a file, in order.

    Args:
      text: TOML, each cause a table with a head of its own: `[cause.ID]`.

    Raises:
      ValueError: the causes are not laid out so, or it is no TOML.
    """
    causes = [CauseSpan(id, whole, entries) for id, whole, entries in _tables(text)]
    tables = tomllib.loads(text).get("cause", {})
    counts = {id: len(fields["entries"]) for id, fields in tables.items()}
    if {one.id: len(one.entries) for one in causes} != counts or len(causes) != len(counts):
        raise ValueError("the file is not laid out as [cause.ID] tables, each with its entries = [{…}, …]")
    return causes


def _tables(text: str) -> Iterator[tuple[str, Span, list[Span]]]:
    """The id, the span and the entries of each table below a head."""
    id, start, end = "", 0, 0
    entries: list[Span] = []
    opened: list[int] = []
    inside = False  # the field `entries`
    for token in _TOKEN.finditer(text):
        word = token[0].strip()
        if token["head"] and not opened:
            if id:
                yield id, Span(start, end), entries
            id, start, end, entries, inside = _id(token["head"]), token.start("head"), token.end(), [], False
            continue
        if not opened and word.startswith("entries"):
            inside = True
        elif word in ("[", "{"):
            opened.append(token.end() - 1)
        elif word in ("]", "}") and opened:
            first = opened.pop()
            if inside and word == "}" and len(opened) == 1:
                entries.append(Span(first, token.end()))
            inside = inside and bool(opened)
        end = end if word.startswith("#") else max(end, token.end())
    if id:
        yield id, Span(start, end), entries


def _id(head: str) -> str:
    """The id in the head of a cause's table; empty for another table."""
    try:
        ids = list(tomllib.loads(head).get("cause", {}))
    except tomllib.TOMLDecodeError:
        return ""
    return ids[0] if len(ids) == 1 else ""
