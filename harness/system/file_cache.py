"""File cache: a folder of small files by key, bounded in bytes, which many processes use at once.

A file appears in one step, under the key's name, with a checksum before its content. A file that is cut or damaged is
deleted, and counts as missing. Beyond its bound, the cache deletes the files that were not used for longest. If the
folder can't be read or written, everything counts as missing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from pathlib import Path

#: Bytes that all files of a cache, and one file, may have.
LIMIT, LARGEST = 256 << 20, 16 << 20
_CHECKSUM = 16
#: Seconds after which a file that nobody finished writing counts as left behind.
_LEFT_BEHIND = 3600.0
_TEMPORARY = ".new"


class FileCache:
    """The files of a folder, which is created when it is needed."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        """`limit` is the bound in bytes; writers exceed it by a tenth at most, each."""
        self.folder, self.limit = folder, limit
        self._written = 0

    def get(self, key: str) -> bytes | None:
        """The content of the file of a key; None if there is no whole one."""
        path = self.folder / key
        try:
            if path.stat().st_size > LARGEST + _CHECKSUM:
                return None
            data = path.read_bytes()
            checksum, content = data[:_CHECKSUM], data[_CHECKSUM:]
            if checksum != _checksum(key, content):
                path.unlink(missing_ok=True)
                return None
            os.utime(path)
        except OSError:
            return None
        return content

    def put(self, key: str, content: bytes) -> None:
        """Writes the file of a key, if the folder can be written and the content is not too large."""
        if len(content) > LARGEST:
            return
        temporary = self.folder / f"{key}.{secrets.token_hex(4)}{_TEMPORARY}"
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                temporary.write_bytes(_checksum(key, content) + content)
                os.replace(temporary, self.folder / key)
            finally:
                temporary.unlink(missing_ok=True)
            self._written += len(content) + _CHECKSUM
            if self._written > self.limit // 10:
                self._written = 0
                self.prune()

    def drop(self, key: str) -> None:
        """Deletes the file of a key, if there is one."""
        with contextlib.suppress(OSError):
            (self.folder / key).unlink(missing_ok=True)

    def prune(self) -> None:
        """Deletes the files that were not used for longest, until the rest is within the bound, and files left behind.

        Files may vanish meanwhile: other processes prune too.
        """
        files: list[tuple[float, int, Path]] = []
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                with contextlib.suppress(OSError):
                    facts = path.stat()
                    files.append((facts.st_mtime, facts.st_size, path))
        size = sum(one for _, one, _ in files)
        for used, one, path in sorted(files):
            left_behind = path.name.endswith(_TEMPORARY) and used < time.time() - _LEFT_BEHIND
            if size > self.limit or left_behind:
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)
                size -= one


def _checksum(key: str, content: bytes) -> bytes:
    """A hash of key and content, so that a file under another key's name counts as damaged."""
    return hashlib.blake2b(key.encode() + b"\0" + content, digest_size=_CHECKSUM).digest()
