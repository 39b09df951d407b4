"""Precision: whether references may compute in float64 or long double instead of wider numbers, which are much slower.

A sweep of a dtype narrower than float64 allows float64, and compares a sample of every block with the wide reference. A
search allows both to find candidates, and computes the wide reference of each candidate.
"""

from __future__ import annotations

import threading
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


class _Last(threading.local):
    """The last large arguments of functions in this thread, with their values, which must not be written to."""

    def __init__(self) -> None:
        self._values: dict[Callable[[np.ndarray], Any], tuple[np.ndarray, Any]] = {}

    def value(self, function: Callable[[np.ndarray], Any], x: np.ndarray) -> Any:
        """The function of x; computed once if the last argument has the same bits."""
        found = self._values.pop(function, None)
        if found is None or not np.array_equal(found[0].view(np.uint64), x.view(np.uint64)):
            while len(self._values) >= _FUNCTIONS:
                del self._values[next(iter(self._values))]
            found = x, function(x)
            if isinstance(found[1], np.ndarray):
                found[1].flags.writeable = False
        self._values[function] = found
        return found[1]


#: The least size of an argument for which the last value is kept: small ones cost less than their comparison.
_LARGE = 1 << 16
#: The number of functions whose last values are kept: a value and a gradient.
_FUNCTIONS = 2
_last = _Last()


def computed(function: Callable[[np.ndarray], Any], x: np.ndarray) -> Any:
    """The function of float64 numbers, in long double where that is required; None if the function has none.

    Bounds use the values of a reference again: of a large argument, the last value is kept. Do not write to it.
    """
    if not _long_double.get():
        return _last.value(function, x) if x.size >= _LARGE and x.flags.c_contiguous else function(x)
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
