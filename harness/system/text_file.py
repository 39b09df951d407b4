"""Text file: reads a file of text, TOML or JSON; the message of a malformed file names it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any


def read_text(path: Path, name: str = "") -> str:
    """The text of a file in UTF-8; `name` is the file's name in messages, by default its path.

    Raises:
      ValueError: it is not UTF-8.
      OSError: it can't be read.
    """
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as why:
        raise ValueError(f"{name or path}: expected text in UTF-8 ({why})") from why


def read_toml(path: Path, name: str = "") -> dict[str, Any]:
    """The tables of such a file.

    Raises:
      ValueError: it is not UTF-8, or not TOML.
      OSError: it can't be read.
    """
    try:
        return tomllib.loads(read_text(path, name))
    except (tomllib.TOMLDecodeError, RecursionError) as why:
        raise ValueError(f"{name or path}: expected TOML ({why})") from why


def read_json(path: Path, name: str = "") -> Any:
    """The value in such a file.

    Raises:
      ValueError: it is not UTF-8, or not JSON.
      OSError: it can't be read.
    """
    try:
        return json.loads(read_text(path, name))
    except (json.JSONDecodeError, RecursionError) as why:
        raise ValueError(f"{name or path}: expected JSON ({why})") from why
