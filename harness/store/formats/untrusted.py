"""Untrusted: opens and decodes files that may come from anyone, such as those of a downloaded run.

Such a file must be a regular file, not a link, not larger than a stated limit, and must match a schema.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

MIB = 1 << 20
#: The largest sizes in bytes of a text, such as run.json or a finding's script, and of a file read piece by piece.
TEXT, ANY = 64 * MIB, 1 << 62


def inside(folder: Path, name: str) -> Path:
    """The path of a name within a folder, if no part of the name is a link; the folder itself may be a link.

    Raises:
      ValueError: the name leads elsewhere.
    """
    path = folder / name
    if os.path.isabs(name) or ".." in Path(name).parts or "\0" in name:
        raise ValueError(f"{folder}: expected a path inside it, got {name!r}")
    whole = os.path.join(os.path.realpath(folder), os.path.normpath(name))
    if os.path.realpath(path) != whole:
        raise ValueError(f"{path}: expected a file inside {folder}, got a link")
    return path


def without_links(folder: Path) -> Path:
    """The folder, if it contains no link.

    Raises:
      ValueError: it contains a link; the message names it.
    """
    for where, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if os.path.islink(path := os.path.join(where, name)):
                raise ValueError(f"{path}: expected a file or a folder, got a link")
    return folder


def opened(path: Path, most: int) -> BinaryIO:
    """Opens a regular file of at most `most` bytes for reading.

    Raises:
      OSError: the file can't be opened.
      ValueError: it is a link, not a regular file, or larger.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would wait
    except OSError as why:
        if why.errno == errno.ELOOP:
            raise ValueError(f"{path}: expected a file, got a link") from why
        raise
    file = os.fdopen(descriptor, "rb")
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode):
        file.close()
        raise ValueError(f"{path}: expected a file, got something else")
    if about.st_size > most:
        file.close()
        raise ValueError(f"{path}: expected at most {most:,} bytes, got {about.st_size:,}")
    return file


def text(path: Path, most: int = TEXT) -> str:
    """The text of such a file, in UTF-8; invalid bytes become `\\ufffd`. Raises the errors of `opened`."""
    with opened(path, most) as file:
        return file.read().decode(errors="replace")


def load(path: Path, as_: Any, most: int = TEXT) -> Any:
    """The JSON of such a file, as a value of the type `as_`.

    Raises:
      OSError: the file can't be opened.
      ValueError: it is not such a file, not JSON, or has another type; the message names the field.
    """
    with opened(path, most) as file:
        return decode(file.read(), as_, str(path))


def decode(data: bytes, as_: Any, where: str) -> Any:
    """Decodes JSON to a value of a type, or with the decoder of a type; errors name the place `where`.

    Python's own JSON reader accepts `NaN`, and lone surrogates, which messages of TensorFlow may contain.

    Raises:
      ValueError: the data is not JSON, or has another type.
    """
    decoder = as_ if isinstance(as_, msgspec.json.Decoder) else msgspec.json.Decoder(as_)
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as why:
        raise unfit(where, why) from why
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError) as why:
        raise ValueError(f"{where}: expected JSON ({' '.join(str(why).split())})") from why
    return convert(plain, decoder.type, where)


def convert(plain: Any, as_: Any, where: str) -> Any:
    """Converts plain data to a value of a type.

    Raises:
      ValueError: the data has another type.
    """
    try:
        return msgspec.convert(plain, as_)
    except msgspec.ValidationError as why:
        raise unfit(where, why) from why
    except (ValueError, RecursionError) as why:  # lone surrogates where no text is expected
        raise ValueError(f"{where}: {' '.join(str(why).split())}") from why


def unfit(where: str, why: Exception) -> ValueError:
    """The error for data of another type: its place, the field, the expected and the actual type."""
    says, _, field = str(why).replace("`", "").partition(" - at ")
    return ValueError(f"{where}: {field}: {says}" if field else f"{where}: {says}")
