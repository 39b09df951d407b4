"""Inputs: the arrays of a check, given or drawn from domains; every process draws the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float

#: The most numbers of a domain; an input that is larger, or empty, is given as an array.
MOST = 10**8
_EXPECTED = "check: expected inputs of numbers, as arrays or tf_opdiff.uniform(…)"


@dataclass(frozen=True)
class Domain:
    """Numbers in [low, high), as an input of a check; see `tf_opdiff.uniform`."""

    low: float
    high: float
    shape: tuple[int, ...] = (67,)
    dtype: str = "float32"

    def __post_init__(self) -> None:
        dtype = np.dtype(self.dtype)
        if not self.low < self.high:
            raise ValueError(f"uniform: expected low < high, got {self.low} and {self.high}")
        if not (is_float(dtype) or dtype.kind in "iu"):
            raise ValueError(f"uniform: expected a dtype of floats or integers, got {self.dtype}")
        least, most = _limits(dtype)
        if not (least <= self.low and self.high <= most and math.isfinite(self.high - self.low)):
            limits = f"numbers of {self.dtype} from {least:g} to {most:g}"
            raise ValueError(f"uniform: expected {limits}, got {self.low} and {self.high}")
        if dtype.kind in "iu" and not (float(self.low).is_integer() and float(self.high).is_integer()):
            raise ValueError(f"uniform: expected integers, got {self.low} and {self.high}")
        if not all(size >= 1 for size in self.shape) or math.prod(self.shape) > MOST:
            raise ValueError(f"uniform: expected sizes of at least 1, and {MOST:,} numbers at most, got {self.shape}")

    def drawn(self, draw: Draw) -> np.ndarray:
        """Random numbers of the domain."""
        if np.dtype(self.dtype).kind in "iu":
            return draw.integers(*self.shape, low=int(self.low), high=int(self.high)).astype(self.dtype)
        numbers = draw.uniform(*self.shape, low=self.low, high=self.high).astype(self.dtype)
        return np.clip(numbers, *np.array([self.low, self.high]).astype(self.dtype)).astype(self.dtype)

    def edges(self) -> np.ndarray:
        """The ends of the domain and the special numbers in it, again and again: zeros, ones, the tiny, neighbours."""
        dtype = np.dtype(self.dtype)
        if dtype.kind in "iu":
            numbers = np.array([self.low, self.high - 1, 0, 1, -1], float)
        else:
            tiny = float(ml_dtypes.finfo(dtype).smallest_normal)
            ends = np.array([self.low, self.high]).astype(dtype).astype(float)
            numbers = np.array([*ends, 0.0, -0.0, 1.0, -1.0, tiny, -tiny, 0.5, 2.0])
        within = numbers[(numbers >= self.low) & (numbers <= self.high)]
        size = int(np.prod(self.shape, dtype=int))
        return within[np.arange(size) % within.size].reshape(self.shape).astype(dtype)


def _limits(dtype: np.dtype) -> tuple[float, float]:
    """The least and the largest end of a domain: of integers, those that float64 has too."""
    if dtype.kind in "iu":
        return max(int(np.iinfo(dtype).min), -(2**53)), min(int(np.iinfo(dtype).max) + 1, 2**53)
    return float(ml_dtypes.finfo(dtype).min), float(ml_dtypes.finfo(dtype).max)


@dataclass(frozen=True)
class Inputs:
    """A recipe: the same arrays whatever the case."""

    sources: tuple[np.ndarray | Domain, ...]
    edges: bool = False

    def __call__(self, draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        own = Draw(1)
        each = (s if isinstance(s, np.ndarray) else s.edges() if self.edges else s.drawn(own) for s in self.sources)
        return tuple(each)


@dataclass(frozen=True)
class Upstream:
    """The upstream gradient of every output: away from zero, the same whatever the case."""

    def __call__(self, draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
        own = Draw(2)
        return own.uniform(*shape, low=0.5, high=4.0) * np.where(own.booleans(*shape), 1, -1)


def recipes(sources: Sequence[np.ndarray | Domain]) -> dict[str, Inputs]:
    """The recipes of a check: the given arrays, or numbers drawn from domains and their edges."""
    fixed = tuple(sources)
    if not any(isinstance(source, Domain) for source in fixed):
        return {"given": Inputs(fixed)}
    return {"drawn": Inputs(fixed), "edges": Inputs(fixed, edges=True)}


def as_source(value: object) -> np.ndarray | Domain:
    """An input as an array or a domain; Python's floats become float32, its integers int32, as in TensorFlow.

    Raises:
      TypeError: the value holds no numbers.
    """
    __tracebackhide__ = True
    if isinstance(value, Domain):
        return value
    try:
        array = np.asarray(value)
    except ValueError as why:
        raise TypeError(f"{_EXPECTED}, got a {type(value).__name__} whose rows have different lengths") from why
    if not isinstance(value, np.ndarray | np.generic) and not hasattr(value, "__array__"):
        array = array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))
    if array.dtype.kind not in "biufc" and not is_float(array.dtype):
        kind = type(value).__name__
        got = f"a {kind}" if array.ndim == 0 and kind != "ndarray" else f"an array of {array.dtype}"
        raise TypeError(f"{_EXPECTED}, got {got}")
    return array
