"""Lines: texts that are safe to print on one line."""

from __future__ import annotations

import re

from tf_opdiff.harness.system.terminal import safe

#: Characters of a line at the terminal.
WIDTH = 120
_ADDRESS = re.compile(r"https://[A-Za-z0-9./_#?=&%:+~,-]+")


def plain(text: str, width: int = WIDTH) -> str:
    """One printable line that no terminal and no CI interprets: control characters become spaces; cut at `width`."""
    text = safe(" ".join("".join(c if c.isprintable() else " " for c in text).split()))
    return text if len(text) <= width else text[: width - 1] + "…"


def is_address(text: str) -> bool:
    """Whether a text is an https address of ordinary characters, so that a page may link it."""
    return bool(_ADDRESS.fullmatch(text))
