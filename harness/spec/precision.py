"""Precision: whether references may compute in float64 instead of wider numbers, which are much slower.

A sweep of a dtype narrower than float64 allows it, and compares a sample of every block with the wide reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_taken: ContextVar[list[None] | None] = ContextVar("taken", default=None)


def allowed() -> bool:
    """Whether float64 is precise enough; a reference that calls this can compute in float64 and in wider numbers."""
    taken = _taken.get()
    if taken is None:
        return False
    taken.append(None)
    return True


@contextmanager
def quick() -> Iterator[list[None]]:
    """Allows float64 in its `with` block; the yielded list is empty until a reference calls `allowed`."""
    taken: list[None] = []
    token = _taken.set(taken)
    try:
        yield taken
    finally:
        _taken.reset(token)
