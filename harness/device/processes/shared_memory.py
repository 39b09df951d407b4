"""Shared memory: the segment through which a device server returns large arrays.

A segment is a file without a name in any file system: the kernel frees it when the processes that have it open have
ended, in whatever way. Its address is that of a descriptor of its owner.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import Observation

_ALIGNMENT = 64


class Segment:
    """Memory that this process owns, and that its device servers can open by its address.

    Attributes:
      address: the path of the descriptor, its device and its inode, with spaces between them. It is empty where the
        system has no such files (not Linux): a server then returns arrays through the pipe.
    """

    def __init__(self, size: int) -> None:
        """A segment of `size` bytes."""
        self.address = ""
        try:
            descriptor = os.memfd_create("opdiff-segment")
        except (AttributeError, OSError):
            return
        self._close = weakref.finalize(self, os.close, descriptor)
        os.ftruncate(descriptor, size)
        self.memory = mmap.mmap(descriptor, size)
        about = os.fstat(descriptor)
        self.address = f"/proc/{os.getpid()}/fd/{descriptor} {about.st_dev} {about.st_ino}"
        _own[self.address] = self

    def close(self) -> None:
        """Closes the descriptor; the memory is freed when nobody has a view of it."""
        if self.address:
            self._close()
            _own.pop(self.address, None)


#: The segments of this process, by their addresses.
_own: weakref.WeakValueDictionary[str, Segment] = weakref.WeakValueDictionary()


@dataclass(frozen=True)
class Placed:
    """The place of an array in a segment; `offset` is in bytes."""

    offset: int
    dtype: str
    shape: tuple[int, ...]


@lru_cache(maxsize=2)  # a sweep has two for each server
def _opened(address: str) -> mmap.mmap:
    """The memory of another process's segment.

    Raises:
      OSError: its owner has closed it. Another file of the owner can have the same descriptor by now.
    """
    path, *identity = address.split()
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        about = os.fstat(descriptor)
        if [str(about.st_dev), str(about.st_ino)] != identity:
            raise OSError(f"{path}: expected the file of the segment, got another file")
        return mmap.mmap(descriptor, about.st_size)
    finally:
        os.close(descriptor)


def _mapped(observation: Observation, change: Callable[[Any], Any]) -> Observation:
    quantities = {q: replace(r, value=change(r.value)) for q, r in observation.quantities.items()}
    return replace(observation, quantities=quantities)


def to_shared_memory(observation: Observation, address: str) -> Observation:
    """The observation with its arrays moved to a segment, while there is room; unchanged without an address."""
    if not address:
        return observation
    memory, at = _opened(address), 0

    def place(value: Any) -> Any:
        nonlocal at
        if value is None or value.dtype.kind == "O" or at + value.nbytes > len(memory):
            return value
        placed = Placed(at, value.dtype.name, value.shape)
        _view(memory, placed)[...] = value
        at += -(-value.nbytes // _ALIGNMENT) * _ALIGNMENT
        return placed

    return _mapped(observation, place)


def from_shared_memory(observation: Observation, address: str) -> Observation:
    """The observation that `to_shared_memory` received; its arrays are views, valid until the segment is used again."""
    if not address:
        return observation
    memory = _own[address].memory
    return _mapped(observation, lambda value: _view(memory, value) if isinstance(value, Placed) else value)


def _view(memory: mmap.mmap, placed: Placed) -> np.ndarray:
    return np.ndarray(placed.shape, np.dtype(placed.dtype), memory, placed.offset)
