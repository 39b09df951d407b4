"""Files: replaced as a whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def replace(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Gives `path` the content that `fill` writes, in one step, once it is on the disk."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)  # a link there would lead elsewhere
        with temporary.open("xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Gives `path` this text, in UTF-8, in one step."""
    replace(path, lambda file: file.write(text.encode()))


def show(text: str) -> None:
    """Prints a text; a reader that has seen enough, such as `head`, may close the pipe, and changes no exit status."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
