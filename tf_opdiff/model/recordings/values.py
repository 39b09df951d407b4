"""Values: arrays in one file, which one process writes and other processes read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tf_opdiff.harness.device.observation import raw, unraw
from tf_opdiff.harness.device.request import ALIGNMENT


@dataclass(frozen=True)
class Stored:
    """An array in a file: the byte at which it begins, its size in bytes, its dtype's name and its shape."""

    offset: int
    size: int
    dtype: str
    shape: tuple[int, ...]


class ValueWriter:
    """Writes arrays to a file, each at an aligned byte."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._end = self._file.write(bytes(ALIGNMENT))  # an empty file can't be mapped into memory

    def add(self, array: np.ndarray) -> Stored:
        """Writes an array; texts are objects of bytes."""
        name, data = raw(array)
        offset, padding = self._end, -len(data) % ALIGNMENT
        self._end += self._file.write(data) + self._file.write(bytes(padding))
        return Stored(offset, len(data), name, tuple(array.shape))

    def close(self) -> None:
        """Ends the file: it can be read."""
        self._file.close()


class ValueReader:
    """Reads the arrays of a file, without a copy."""

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, np.uint8, "r")

    def __call__(self, stored: Stored) -> np.ndarray:
        """The array, read-only."""
        data = self._bytes[stored.offset : stored.offset + stored.size]
        if stored.dtype == "bytes":
            return unraw(stored.dtype, stored.shape, data.tobytes())
        return data.view(np.dtype(stored.dtype)).view(np.ndarray).reshape(stored.shape)


def write_values(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, Stored]:
    """Writes named arrays to a file."""
    writer = ValueWriter(path)
    stored = {name: writer.add(array) for name, array in arrays.items()}
    writer.close()
    return stored
