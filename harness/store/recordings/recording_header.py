"""Recording header: reads the facts at the head of a recording, and checks its base."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from tf_opdiff.harness.spec.plan import Device
from tf_opdiff.harness.store.formats import parquet, untrusted
from tf_opdiff.harness.store.recordings.recorded_device import About
from tf_opdiff.harness.store.recordings.recording_format import FORMATS, KEY, NAME, SUFFIX

_EXPECTED = f"expected a recording of format {' or '.join(map(str, FORMATS))}"


class _Format(msgspec.Struct):
    format: int


def read(path: Path) -> About:
    """The header of a recording.

    Raises:
      ValueError: the file is damaged, or not a recording.
    """
    try:
        with untrusted.opened(path, parquet.MOST) as file:
            header = (pq.read_schema(file).metadata or {}).get(KEY)
    except (pa.ArrowException, OSError, TypeError) as why:
        raise ValueError(f"{path}: {_EXPECTED} ({' '.join(str(why).split())})") from why
    if header is None:
        raise ValueError(f"{path}: {_EXPECTED}; it does not say that it is one")
    if (format_ := untrusted.decode(header, _Format, str(path)).format) not in FORMATS:
        raise ValueError(f"{path}: {_EXPECTED}, got {format_}")
    about = untrusted.decode(header, About, str(path))
    try:
        Device.parse(about.device)
    except ValueError as why:
        raise ValueError(f"{path}: {why}") from why
    return about


def digest(path: Path) -> str:
    """The digest of a recording's file: BLAKE2b with 16 bytes, in hexadecimal digits.

    Raises:
      OSError: the file can't be read.
      ValueError: it is a link, not a file, or too large.
    """
    with untrusted.opened(path, parquet.MOST) as file:
        hashed = hashlib.blake2b(digest_size=16)
        while chunk := file.read(untrusted.MIB):
            hashed.update(chunk)
    return hashed.hexdigest()


def base(path: Path, name: str) -> Path:
    """The file of the recording called `name` that is to be the base of the recording in the file `path`.

    Raises:
      ValueError: the name is not that of a recording in the same folder that can be a base.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"{path}: its base {name!r}: expected a name such as h100@2.21.0")
    file = path.with_name(f"{name}{SUFFIX}")
    if file == path:
        raise ValueError(f"{path}: expected another recording as its base, got itself")
    if not os.path.lexists(file):
        raise ValueError(f"{path}: its base is missing: expected {file}")
    try:
        about = read(file)
    except ValueError as why:
        raise ValueError(f"{path}: its base can't be read: {why}") from why
    if about.base:
        raise ValueError(f"{path}: its base {name} has the base {about.base}: expected a base without a base")
    return file


def checked_base(path: Path, about: About) -> Path | None:
    """The file of the base that the header of the recording in the file `path` names, or None if it has none.

    Raises:
      ValueError: the base is missing, damaged, has a base itself, or is not the one with which `path` was written.
    """
    if not about.base:
        return None
    file = base(path, about.base)
    if (got := digest(file)) != about.base_digest:
        expected = f"expected the file with the digest {about.base_digest}, got {got}"
        raise ValueError(f"{path}: its base {about.base} has changed since, or is damaged: {expected}")
    return file


def users(path: Path) -> list[str]:
    """The names of the recordings whose base is the recording in the file `path`, as it is now."""
    name, now = path.name.removesuffix(SUFFIX), digest(path)
    found = []
    for file in sorted(path.parent.glob(f"*{SUFFIX}")):
        try:
            about = read(file)
        except ValueError:  # no recording, or a damaged one, which is of no use
            continue
        found += [file.name.removesuffix(SUFFIX)] if (about.base, about.base_digest) == (name, now) else []
    return found
