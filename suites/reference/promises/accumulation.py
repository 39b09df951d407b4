"""Accumulation: errors of sums and products of many numbers, whatever the order in which they are taken.

Each bound counts roundings, so that it holds for every order: one after the other, in pairs, in lanes of a vector, in
threads. Where no rounding can happen, the bound is 0: then a wide bound can't hide a wrong sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: The most that the roundings of a sum may amount to in the dtype of its terms, relative to the sum of their sizes.
SHORT = 1 / 16
#: The unit round-off of float32, in which numbers of 16 bits have to be accumulated.
FLOAT32 = 2.0**-24
#: The unit round-off of float16.
FLOAT16 = 2.0**-11
Axis = int | tuple[int, ...]


def axes(axis: Axis, rank: int) -> tuple[int, ...]:
    """The axes, as a tuple of numbers from 0."""
    return tuple(a % rank for a in np.atleast_1d(np.asarray(axis, int)).tolist())


def count(x: np.ndarray, axis: Axis) -> int:
    """The number of elements that a reduction over these axes takes together."""
    return int(np.prod([x.shape[a] for a in axes(axis, x.ndim)], dtype=int))


def gamma(n: Any, u: float) -> Any:
    """γ_n = n u / (1 - n u): the relative error of n roundings (Higham, Accuracy and Stability, section 3.1).

    It is 1, which allows any result, where n u is 1/2 or more.
    """
    n = np.asarray(n, np.float64)
    return np.where(n * u < 0.5, n * u / (1 - np.minimum(n * u, 0.5)), 1.0)


def accumulator(u: float, n: int) -> float:
    """The unit round-off of the dtype in which n numbers with unit round-off u have to be taken together.

    Numbers of 16 bits are accumulated in float32, as by XLA and by TensorFlow's kernels for bfloat16, unless n
    roundings of their own dtype are at most 1/16: nothing documents the dtype, and a short sum is good in either.
    """
    return u if n * u <= SHORT else min(u, FLOAT32)


def sizes(x: np.ndarray) -> np.ndarray:
    """The sizes of numbers: |x|, and |re| + |im| of complex numbers."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def lowest_bit(x: np.ndarray) -> np.ndarray:
    """The value of the lowest bit of each float64; infinite for zeros and for numbers that are not finite.

    Of a complex number, that of the part with the lower one.
    """
    if x.dtype.kind == "c":
        return np.minimum(lowest_bit(x.real), lowest_bit(x.imag))
    usable = np.isfinite(x) & (x != 0)
    mantissa, exponent = np.frexp(np.where(usable, x, 1.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest = (whole & -whole).astype(np.float64)
    return np.where(usable, np.ldexp(lowest, exponent - 53), np.inf)


def sums_exactly(x: np.ndarray, axis: Axis, u: float) -> np.ndarray:
    """Whether every partial sum is exact, in any order: its lowest bit is that of some term, and Σ|x| has no more bits.

    Of the shape of the reduction, with sizes of 1 for the axes.
    """
    parts = (x.real, x.imag) if x.dtype.kind == "c" else (x,)
    where = axes(axis, x.ndim)
    exact = np.bool_(True)
    for part in parts:
        lowest = np.min(lowest_bit(part), axis=where, keepdims=True, initial=np.inf)
        total = np.sum(np.abs(part), axis=where, keepdims=True)
        exact = exact & (total * u <= lowest)
    return np.asarray(exact)


def sum_error(u: float, x: np.ndarray, axis: Axis, terms: int | None = None) -> np.ndarray:
    """The error of a sum: γ_{n-1} Σ|x| of its accumulator (Higham, section 4.2), then one rounding of the sum.

    Args:
      u: the unit round-off of the result.
      x: the terms, of any shape.
      axis: the axes of the sum.
      terms: n, if further roundings come on top, such as those of the terms.
    """
    where, n = axes(axis, x.ndim), (count(x, axis) if terms is None else terms) - 1
    wide = accumulator(u, n)
    total = np.sum(sizes(x), axis=where, keepdims=True)
    result = sizes(np.sum(x, axis=where, keepdims=True))
    return np.where(sums_exactly(x, axis, wide), 0.0, gamma(max(n, 0), wide) * total) + u * result


def product_roundings(x: np.ndarray, axis: Axis) -> np.ndarray:
    """The most roundings of a product in any order: a product with a power of two, or with 0, is exact."""
    mantissa, _ = np.frexp(np.where(np.isfinite(x), np.abs(x), 1.0))
    rough = (mantissa != 0.5) & (x != 0)
    return np.maximum(np.sum(rough, axis=axes(axis, x.ndim), keepdims=True) - 1, 0)
