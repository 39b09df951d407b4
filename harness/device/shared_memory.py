"""Segment: shared memory through which large arrays come back from a device server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from tf_opdiff.harness.device.observation import Observation

_ALIGNMENT = 64


@dataclass(frozen=True)
class Placed:
    """Where in a segment an array lies."""

    offset: int
    dtype: str
    shape: tuple[int, ...]


@lru_cache(maxsize=8)
def _attached(name: str) -> SharedMemory:
    return SharedMemory(name)


def _mapped(observation: Observation, change: Callable[[Any], Any]) -> Observation:
    quantities = {q: replace(r, value=change(r.value)) for q, r in observation.quantities.items()}
    return replace(observation, quantities=quantities)


def handed(observation: Observation, name: str) -> Observation:
    """The observation with its arrays moved to the named segment, as far as it has room; without a name, as it is."""
    if not name:
        return observation
    memory, at = _attached(name), 0

    def place(value: Any) -> Any:
        nonlocal at
        if value is None or value.dtype.kind == "O" or at + value.nbytes > memory.size:
            return value
        placed = Placed(at, value.dtype.name, value.shape)
        _view(memory, placed)[...] = value
        at += -(-value.nbytes // _ALIGNMENT) * _ALIGNMENT
        return placed

    return _mapped(observation, place)


def taken(observation: Observation, name: str) -> Observation:
    """The observation as `handed` was given it; its arrays are views, good until the segment is used again."""
    if not name:
        return observation
    memory = _attached(name)
    return _mapped(observation, lambda value: _view(memory, value) if isinstance(value, Placed) else value)


def _view(memory: SharedMemory, placed: Placed) -> np.ndarray:
    return np.ndarray(placed.shape, np.dtype(placed.dtype), memory.buf, placed.offset)
