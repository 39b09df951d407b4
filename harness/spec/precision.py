"""Precision: whether references may compute in float64 or long double instead of wider numbers, which are much slower.

A sweep of a dtype narrower than float64 allows float64, and compares a sample of every block with the wide reference. A
search allows both to find candidates, and computes the wide reference of each candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

_taken: ContextVar[list[None] | None] = ContextVar("taken", default=None)
_long_double: ContextVar[bool] = ContextVar("long_double", default=False)

_certain: ContextVar[bool] = ContextVar("certain", default=False)


def allowed() -> bool:
    """Whether float64 is precise enough; a reference that calls this can compute in float64 and in wider numbers."""
    taken = _taken.get()
    if taken is None:
        return False
    taken.append(None)
    return True


def computed(function: Callable[[np.ndarray], Any], x: np.ndarray) -> Any:
    """The function of float64 numbers, in long double where that is required; None if the function has none."""
    if not _long_double.get():
        return function(x)
    try:
        return function(x.astype(np.longdouble))
    except TypeError:  # a function of SciPy
        return None


def certain() -> bool:
    """Whether a reference in long double should give way to the same function in wider numbers, where there is one."""
    return _certain.get()


@contextmanager
def wider() -> Iterator[None]:
    """Requests wider numbers than long double in its `with` block."""
    token = _certain.set(True)
    try:
        yield
    finally:
        _certain.reset(token)


@contextmanager
def quick(*, long_double: bool = False) -> Iterator[list[None]]:
    """Allows float64 in its `with` block; the yielded list is empty until a reference calls `allowed`.

    With `long_double`, references may compute in long double, but not in float64.
    """
    taken: list[None] = []
    token, other = _taken.set(taken), _long_double.set(long_double)
    try:
        yield taken
    finally:
        _taken.reset(token)
        _long_double.reset(other)
