"""Terminal: texts from anywhere, such as an op's stderr, as a terminal and a CI's log may print them.

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
    """The text, every character that does not print written out as `\\x1b`; what a CI would obey has a space within."""
    shown = "".join(c if c.isprintable() or c in "\n\t" else _written(c) for c in text)
    return _LINE.sub(r"\1: ", _COMMAND.sub("## ", shown))


def _written(character: str) -> str:
    return character.encode("unicode_escape").decode()


class Guarded:
    """A stream to which only `safe` texts go; what else it has is the stream's own."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Writes a text as `safe` has it."""
        self.stream.write(safe(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def bare(stream: Any) -> Any:
    """The stream behind a guard, for what this process itself draws on a terminal; a stream without one as it is."""
    return stream.stream if isinstance(stream, Guarded) else stream


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Within it, this process prints `safe` texts only."""
    with contextlib.redirect_stdout(Guarded(sys.stdout)), contextlib.redirect_stderr(Guarded(sys.stderr)):
        yield
