"""Terminal: makes untrusted text, such as the stderr of an op, safe for terminals and CI logs.

A terminal obeys escape sequences. The runners of GitHub, Azure and TeamCity obey `##[group]` and the like anywhere, and
`::error::` at the beginning of a line:
https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

_COMMAND = re.compile(r"##(?=\w*\[)")
_LINE = re.compile(r"^(\s*):(?=:)", re.MULTILINE)


def safe(text: str) -> str:
    """The text with unprintable characters escaped as `\\x1b`, and a space inside anything that a CI would obey."""
    shown = "".join(c if c.isprintable() or c in "\n\t" else _written(c) for c in text)
    return _LINE.sub(r"\1: ", _COMMAND.sub("## ", shown))


def _written(character: str) -> str:
    return character.encode("unicode_escape").decode()


class Guarded:
    """A stream that writes only `safe` text; every other attribute is that of the stream behind it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Writes the `safe` form of a text."""
        self.stream.write(safe(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def bare(stream: Any) -> Any:
    """The stream behind a guard, for text that this process itself draws; a stream without a guard is returned."""
    return stream.stream if isinstance(stream, Guarded) else stream


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """In this context, the process prints only `safe` text."""
    with contextlib.redirect_stdout(Guarded(sys.stdout)), contextlib.redirect_stderr(Guarded(sys.stderr)):
        yield
