"""Lines: texts that are safe to print on one line."""

from __future__ import annotations

from tf_opdiff.harness.system.terminal import safe

#: Characters of a line at the terminal.
WIDTH = 120


def plain(text: str, width: int = WIDTH) -> str:
    """One printable line that no terminal and no CI interprets: control characters become spaces; cut at `width`."""
    text = safe(" ".join("".join(c if c.isprintable() else " " for c in text).split()))
    return text if len(text) <= width else text[: width - 1] + "…"
