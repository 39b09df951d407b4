"""Recipes: functions that make the inputs of a case from a seed, among them values at which kernels often fail.

A case has the same inputs on every machine: recipes use only integer and IEEE-exact operations, and only NumPy's raw
Philox stream, which NumPy keeps stable (NEP 19).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import ml_dtypes
import numpy as np

#: Elements in an array of the elementwise recipes. A vector register holds fewer elements, and 67 is not a multiple of
#: its width, so kernels process both full vectors and a tail.
SIZE = 67
#: The begin of the name of a recipe of a batch; its number of rows follows: see `suites.derived.batch`.
ROWS = "rows_"


class Draw:
    """A stream of reproducible numbers."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.Philox(key=seed)

    def bits(self, *shape: int) -> np.ndarray:
        """uint64 values, every bit random."""
        return self._bits.random_raw(int(np.prod(shape, dtype=int))).reshape(shape)

    def uniform(self, *shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
        """float64 values in [low, high)."""
        return low + (high - low) * ((self.bits(*shape) >> np.uint64(11)) * 2.0**-53)

    def integers(self, *shape: int, low: int, high: int) -> np.ndarray:
        """int64 values in [low, high)."""
        return low + (self.bits(*shape) % np.uint64(high - low)).astype(np.int64)

    def booleans(self, *shape: int) -> np.ndarray:
        """bool values."""
        return (self.bits(*shape) >> np.uint64(63)).astype(bool)

    def values(self, dtype: np.dtype, *shape: int) -> np.ndarray:
        """Plain values of any dtype: uniform in (-4, 4), small integers, booleans."""
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            return self.booleans(*shape)
        if dtype.kind == "S" or dtype.kind == "O":
            return np.array([b"s%d" % i for i in self.integers(*shape, low=0, high=1000).flat], object).reshape(shape)
        if dtype.kind in "iu":
            return self.integers(*shape, low=0 if dtype.kind == "u" else -9, high=10).astype(dtype)
        if dtype.kind == "c":
            return (self.uniform(*shape) * 4 + 4j * self.uniform(*shape)).astype(dtype)
        return (self.uniform(*shape) * 4).astype(dtype)


@cache
def is_float(dtype: np.dtype) -> bool:
    """Whether a dtype is a real floating-point dtype, of NumPy or of ml_dtypes."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return True
    try:
        ml_dtypes.finfo(dtype)
    except ValueError:
        return False
    return dtype.kind == "V"


def filled(values: Sequence[complex] | np.ndarray, dtype: np.dtype, size: int = SIZE) -> np.ndarray:
    """The values in the given dtype, repeated up to `size` elements."""
    return np.resize(np.asarray(values).astype(dtype), size)


def _edge_values(dtype: np.dtype) -> np.ndarray:
    info = ml_dtypes.finfo(dtype)
    eps, top, tiny = float(info.eps), float(info.max), float(info.smallest_normal)
    positive = [0.0, tiny, eps, 0.25, 0.5, 1 - eps / 2, 1.0, 1 + eps, 1.5, 2.0, 3.0, top / 2, top, np.inf]
    return np.array([*positive, *(-p for p in positive), np.nan])


def edges(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Zeros, infinities, NaN, neighbours of 1, the largest number and the smallest normal; for integers, the limits."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return (filled([False, True], dtype),)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        wanted = [0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min + 1] + [-1, -2] * (dtype.kind == "i")
        return (np.resize(np.array(wanted, dtype), SIZE),)
    if dtype.kind == "c":
        part = _edge_values(np.dtype(f"f{dtype.itemsize // 2}")).astype(f"f{dtype.itemsize // 2}")
        real, imag = np.meshgrid(part, part)
        out = np.empty(real.size, dtype)
        out.real, out.imag = real.ravel(), imag.ravel()
        return (out,)
    return (filled(_edge_values(dtype), dtype),)


def halves(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Integers, halves, and the next number above and below each."""
    middle = np.arange(-8, 8.5, 0.5).astype(dtype)
    beside = [np.nextafter(middle, np.array(d, dtype), dtype=dtype) for d in (np.inf, -np.inf)]
    values = np.concatenate([middle, *beside])
    subnormal = (values != 0) & (np.abs(values) < ml_dtypes.finfo(dtype).smallest_normal)
    return (filled(values[~subnormal], dtype, 2 * SIZE),)


def magnitudes(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers near the powers of two above which the dtype has no halves or no odd numbers, and near integer limits."""
    digits = ml_dtypes.finfo(dtype).nmant + 1
    powers = np.array([2.0**e for e in (digits - 2, digits - 1, digits, digits + 1, 7, 15, 31, 63)])
    powers = powers[powers < float(ml_dtypes.finfo(dtype).max)]
    steps = np.array([-1.5, -1, -0.5, 0, 0.5, 1, 1.5])
    around = (powers[:, None] + steps).ravel()
    return (filled(np.concatenate([around, -around]), dtype, 2 * SIZE),)


def bit_patterns(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Random bits read as the dtype, so all exponents are equally likely; subnormals are replaced by 0."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return (draw.booleans(SIZE),)
    raw = draw.bits(SIZE, max(1, dtype.itemsize // 8)).astype(f"u{min(8, dtype.itemsize)}").view(dtype).ravel()
    if not is_float(dtype):
        return (raw,)
    raw[np.abs(raw) < ml_dtypes.finfo(dtype).smallest_normal] = 0
    return (raw,)


def subnormals(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Subnormals of both signs, from the smallest to the largest."""
    info = ml_dtypes.finfo(dtype)
    smallest = float(info.smallest_subnormal)
    steps = [1, 2, 3, 2 ** (info.nmant // 2), 2**info.nmant - 2, 2**info.nmant - 1]
    positive = np.array([s * smallest for s in steps])
    return (filled(np.concatenate([positive, -positive]), dtype),)


def special_values(dtype: np.dtype) -> np.ndarray:
    """NaN, infinities, zeros, ones, and the smallest subnormal, smallest normal and largest numbers of both signs.

    Of shape (13,), in the dtype, which is a float dtype.
    """
    info = ml_dtypes.finfo(dtype)
    positive = [0.0, 1.0, np.inf, *map(float, (info.smallest_subnormal, info.smallest_normal, info.max))]
    return np.array([np.nan, *positive, *(-p for p in positive)]).astype(dtype)


def plain(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Values of moderate size; see `Draw.values`."""
    return (draw.values(dtype, SIZE),)


def scalar(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """One value in an array of rank 0."""
    return (draw.values(dtype),)


def matrix(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """An array of shape (3, 5)."""
    return (draw.values(dtype, 3, 5),)


def empty(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """An array without elements, of shape (0, 3)."""
    return (draw.values(dtype, 0, 3),)


SHAPES: dict[str, Callable] = {"scalar": scalar, "matrix": matrix, "empty": empty}
UNARY: dict[str, Callable] = {"edges": edges, "bits": bit_patterns, "plain": plain, **SHAPES}
ROUNDING: dict[str, Callable] = {**UNARY, "halves": halves, "magnitudes": magnitudes}

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
