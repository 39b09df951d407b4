"""Quick: whether references may answer in float64 where they would otherwise go to wider numbers, which takes long.

A sweep of a dtype narrower than float64 allows it, and holds a sample of every block against the wide reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_taken: ContextVar[list[None] | None] = ContextVar("taken", default=None)


def allowed() -> bool:
    """Whether float64 will do; a reference that asks is one that can do both."""
    taken = _taken.get()
    if taken is None:
        return False
    taken.append(None)
    return True


@contextmanager
def quick() -> Iterator[list[None]]:
    """Allows it in here; the list that it gives is empty as long as no reference has asked."""
    taken: list[None] = []
    token = _taken.set(taken)
    try:
        yield taken
    finally:
        _taken.reset(token)
