"""Memory: how a process of its own, such as one that writes a report, gives memory back to the system."""

from __future__ import annotations

import contextlib
import ctypes

_M_MMAP_THRESHOLD = -3  # <malloc.h> of glibc
_LARGE = 1 << 20


def give_large_blocks_back() -> None:
    """Lets this process give each freed block of a MiB or more, such as a column of many records, back at once.

    By default glibc takes such blocks from its heap after the first one is freed, and the heap shrinks from its end
    only. Other C libraries keep their own rules.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library, or another system
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def give_free_memory_back() -> None:
    """Gives back what this process has freed in small blocks, as after it has read the shards of a large run."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
