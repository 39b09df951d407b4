"""Elements: functions that draw the elements of one input of a call."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float, subnormals

#: elements(draw, dtype, *shape) → one input.
Elements = Callable[..., np.ndarray]


def part(dtype: np.dtype) -> np.dtype:
    """The dtype of the parts of a complex dtype; a real dtype is its own."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def plain(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Values of moderate size."""
    return draw.values(dtype, *shape)


def uniform(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers between -1 and 1."""
    return draw.uniform(*shape).astype(dtype)


def shares(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers between 0 and 1, not near the ends."""
    return draw.uniform(*shape, low=0.0625, high=0.9375).astype(dtype)


def distributions(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Rows of shares that add up to 1 in any dtype: 16ths."""
    rows = draw.integers(*shape, low=1, high=4)
    return ((rows + (16 - rows.sum(axis=-1, keepdims=True)) * (np.arange(shape[-1]) == 1)) / 16).astype(dtype)


def below(count: int) -> Elements:
    """Integers of int32 from 0 to count - 1, such as the numbers of classes."""
    return lambda draw, dtype, *shape: draw.integers(*shape, low=0, high=count).astype(np.int32)


def byte_values(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Whole numbers from 0 to 255, as of images."""
    return draw.integers(*shape, low=0, high=256).astype(dtype)


def small_integers(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Integers whose sums are exact: a wide bound can't hide a wrong sum of them."""
    return draw.integers(*shape, low=-8, high=9).astype(dtype)


def in_float32(elements: Elements) -> Elements:
    """These elements in float32, whatever the dtype of the case."""
    return lambda draw, dtype, *shape: elements(draw, np.dtype("float32"), *shape)


def from_one(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers from 1 to 3."""
    return (2 + draw.uniform(*shape)).astype(dtype)


def ties(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Equal numbers, and zeros of both signs."""
    return np.array([2.0, -2.0, 0.0, -0.0])[draw.integers(*shape, low=0, high=4)].astype(dtype)


def infinite(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers, and infinities of both signs."""
    x = draw.values(np.dtype(np.float64), *shape)
    return np.where(draw.integers(*shape, low=0, high=5) > 0, x, np.where(x > 0, np.inf, -np.inf)).astype(dtype)


def not_numbers(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers, infinities of both signs, and NaN."""
    x = infinite(draw, np.dtype(np.float64), *shape)
    return np.where(draw.integers(*shape, low=0, high=9) > 0, x, np.nan).astype(dtype)


def positive(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """The sizes of plain numbers: none is negative."""
    return np.abs(plain(draw, dtype, *shape))


def tiny(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Subnormals of both signs."""
    return np.resize(subnormals(draw, part(dtype))[0][:11], shape).astype(dtype)


def limits(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Limits of integers, and numbers next to zero."""
    info = np.iinfo(dtype)
    values = np.array([info.max, info.min, 1, info.max, 0, info.min, info.max - 1, 3], dtype)
    return values[draw.integers(*shape, low=0, high=len(values))]


def nonzero_integers(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Integers whose products and sums are exact: a wide bound can't hide a wrong result of them."""
    return draw.integers(*shape, low=1, high=4).astype(dtype) * (1 - 2 * draw.booleans(*shape)).astype(dtype)


def large(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Powers of two near the root of the largest number, whose products stay in range."""
    x = 2.0 ** (int(ml_dtypes.finfo(part(dtype)).maxexp) // 2 - 4) * np.array([1, 1, 1, 0.5])
    return np.resize(x, shape).astype(dtype)


def special(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Plain numbers other than zero, with an infinity in the first tensor's shape and a NaN further on."""
    x = (1 + draw.uniform(*shape, low=0, high=3)).astype(dtype)
    flat = x.reshape(-1)
    if flat.size > 2 and is_float(dtype):
        flat[0] = np.inf
        flat[-1] = np.nan
    return x


def wrap_around(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Integers of all sizes."""
    return draw.bits(*shape).astype(dtype)
