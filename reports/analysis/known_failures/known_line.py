"""Known line: an entry of known failures as TOML, on one line where it fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: Characters of a line at most, where the entry can be broken.
WIDTH = 250
_INDENT = "    "


def entries(items: Iterable[str]) -> str:
    """The field `entries` of a cause; `items` are entries and the comment lines above them, in order."""
    return "\n".join(["entries = [", *items, "]"])


def entry(fields: Mapping[str, object]) -> str:
    """An entry as an item of `entries`: an inline table on one line.

    TOML allows line breaks between the values of a list alone: there a line over `WIDTH` is broken.
    """
    pieces = ["{"]
    for n, (name, value) in enumerate(fields.items()):
        pieces[-1] += f"{', ' if n else ''}{name} = "
        if not isinstance(value, list):
            pieces[-1] += toml(value)
            continue
        values = list(map(toml, value))
        pieces[-1] += "["
        pieces[-1] += ",\0".join(values) + "]"
        pieces[-1:] = pieces[-1].split("\0")
    pieces[-1] += "},"
    lines = [_INDENT + pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + 1 + len(piece) <= WIDTH:
            lines[-1] += f" {piece}"
        else:
            lines.append(_INDENT * 2 + piece)
    return "\n".join(lines)


def toml(value: object) -> str:
    """A text, a number, a truth value, or a list of these, as TOML.

    Characters of texts that can't be printed are escaped.
    """
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value)
    safe = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in value)
    return f'"{safe}"'
