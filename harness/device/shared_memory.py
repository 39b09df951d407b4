"""Shared memory: the segment through which a device server returns large arrays."""

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
    """The place of an array in a segment; `offset` is in bytes."""

    offset: int
    dtype: str
    shape: tuple[int, ...]


@lru_cache(maxsize=8)
def _attached(name: str) -> SharedMemory:
    return SharedMemory(name)


def _mapped(observation: Observation, change: Callable[[Any], Any]) -> Observation:
    quantities = {q: replace(r, value=change(r.value)) for q, r in observation.quantities.items()}
    return replace(observation, quantities=quantities)


def to_shared_memory(observation: Observation, name: str) -> Observation:
    """The observation with its arrays moved to the named segment, while there is room; unchanged without a name."""
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


def from_shared_memory(observation: Observation, name: str) -> Observation:
    """The observation that `to_shared_memory` received; its arrays are views, valid until the segment is used again."""
    if not name:
        return observation
    memory = _attached(name)
    return _mapped(observation, lambda value: _view(memory, value) if isinstance(value, Placed) else value)


def _view(memory: SharedMemory, placed: Placed) -> np.ndarray:
    return np.ndarray(placed.shape, np.dtype(placed.dtype), memory.buf, placed.offset)
