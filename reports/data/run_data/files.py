"""Files: replaced as a whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def replace(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Replaces `path` in one step by a file that `fill` writes, once that file is on the disk."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)  # it may be a link to another place
        with temporary.open("xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Replaces `path` in one step by a file with this text, in UTF-8."""
    replace(path, lambda file: file.write(text.encode()))


def show(text: str) -> None:
    """Prints a text. A reader such as `head` may close the pipe early; that does not change the exit status."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
