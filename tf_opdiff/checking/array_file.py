"""Array file: the arrays of a file that `np.savez` wrote, read without pickles and with every checksum."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tf_opdiff.checking.inputs import as_source

_SUFFIX = ".npy"
#: The first bytes of a file of np.save, and of a pickle of protocol 2 and later.
_SAVED, _PICKLED = b"\x93NUMPY", b"\x80"
#: The record at the end of an archive: its signature, its size without a comment, and the place of the member count.
_END, _SIZE, _COUNT = b"PK\x05\x06", 22, slice(10, 12)
#: The largest count; an archive with more members has it in another record.
_MANY = 0xFFFF


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file, by name, in the file's order.

    NumPy's own reader loads a pickle if it is told to, and checks no checksum of an array whose header is damaged.

    Raises:
      ValueError: the file can't be read, is no file of np.savez, or is damaged; the message is one line and names the
        file.
    """
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    if other := _other_kind(path):
        raise ValueError(f"{path}: expected a file of np.savez, got {other}")
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            members = [_member(archive, info) for info in archive.infolist()]
            _check_count(file, len(members))
    except Exception as why:
        says = " ".join(str(why).split())
        raise ValueError(f"{path}: expected a file of np.savez ({type(why).__name__}: {says[:200]})") from why
    arrays = dict(members)
    if not arrays or len(arrays) != len(members):
        raise ValueError(f"{path}: expected arrays of different names, got {[name for name, _ in members]}")
    return arrays


def _other_kind(path: Path) -> str:
    """The kind of a file that users mistake for one of np.savez, in words, by its first bytes; empty for others."""
    with path.open("rb") as file:
        first = file.read(len(_SAVED))
    if first == _SAVED:
        return "a file of np.save; np.savez(FILE, x) writes one"
    if first[:1] == _PICKLED:
        return "a pickle, which could run code; np.savez(FILE, **arrays) writes one"
    return "" if first else "an empty file"


def numbers_of(path: Path) -> list[np.ndarray]:
    """The arrays of such a file, all of them numbers, in the file's order.

    Raises:
      ValueError: as `arrays_of`; or an array holds no numbers.
    """
    arrays = arrays_of(path)
    for name, array in arrays.items():
        try:
            as_source(array)
        except TypeError as why:
            raise ValueError(f"{path}: array {name!r}: {str(why).removeprefix('check: ')}") from why
    return [*arrays.values()]


def _check_count(file: BinaryIO, count: int) -> None:
    """Refuses an archive whose end names another number of members: zipfile skips members silently."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _SIZE - _MANY))
    tail = file.read()
    end = tail[tail.rindex(_END) :]
    if (expected := int.from_bytes(end[_COUNT], "little")) not in (count, _MANY):
        raise ValueError(f"expected {expected} arrays, got {count}")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[str, np.ndarray]:
    """The name and the array of a member of the archive; the whole member is read, so its checksum is compared."""
    file = io.BytesIO(archive.read(info))
    array = np.lib.format.read_array(file, allow_pickle=False)
    if file.read(1):
        raise ValueError(f"{info.filename} holds more than its array")
    return info.filename.removesuffix(_SUFFIX), array
