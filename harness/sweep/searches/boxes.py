"""Boxes: parts of the space of one or more floats, cut at bit patterns; a search samples them and cuts them further.

The *place* of a float is its number among all floats of its dtype that are not NaN, in ascending order: equal parts of
the places have equal numbers of bit patterns, and neighbours in place are neighbouring floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np


def _infinity(dtype: np.dtype) -> tuple[np.dtype, np.uint64]:
    """The unsigned integers of a float dtype's size, and the bit pattern of infinity."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return unsigned, np.uint64(np.array(np.inf, dtype).view(unsigned))


def places_of(x: np.ndarray) -> np.ndarray:
    """The places of floats, without NaN, as uint64; -0 comes before +0."""
    unsigned, infinity = _infinity(x.dtype)
    negative = np.uint64(1 << (8 * x.dtype.itemsize - 1))
    bits = np.ascontiguousarray(x).view(unsigned).astype(np.uint64)
    size = bits & (negative - np.uint64(1))
    return np.where(bits & negative, infinity - size, infinity + np.uint64(1) + size)


def floats_at(places: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The floats of a dtype at places; the reverse of `places_of`."""
    unsigned, infinity = _infinity(dtype)
    negative = np.uint64(1 << (8 * dtype.itemsize - 1))
    with np.errstate(over="ignore"):  # of the side that is not taken
        bits = np.where(places <= infinity, negative | (infinity - places), places - infinity - np.uint64(1))
    return bits.astype(unsigned).view(dtype)


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of places; both ends belong to a box.

    Attributes:
      lo, hi: uint64, of shape (boxes, arguments): the first and the last place of each argument.
    """

    lo: np.ndarray
    hi: np.ndarray

    @property
    def size(self) -> int:
        """The number of boxes."""
        return len(self.lo)

    @property
    def widest(self) -> int:
        """The largest distance between the ends of a box."""
        return int((self.hi - self.lo).max(initial=0))

    def chosen(self, rows: np.ndarray) -> Self:
        """The boxes with these numbers."""
        return type(self)(self.lo[rows], self.hi[rows])

    def joined(self, other: Self) -> Self:
        """These boxes, then others."""
        return type(self)(np.concatenate([self.lo, other.lo]), np.concatenate([self.hi, other.hi]))

    def cut(self, parts: int) -> Self:
        """Cuts each box into at most so many parts of about equal size, none of them empty."""
        arguments = self.lo.shape[1]
        each = max(2, int(parts ** (1 / arguments)))
        numbers = np.array(list(np.ndindex(*[each] * arguments)), np.uint64)  # (parts, arguments)
        size, lo = (self.hi - self.lo + np.uint64(1))[:, None, :], self.lo[:, None, :]
        share, left = size // np.uint64(each), size % np.uint64(each)
        begin = lo + share * numbers + np.minimum(numbers, left)
        end = lo + share * (numbers + np.uint64(1)) + np.minimum(numbers + np.uint64(1), left)  # not included
        some = (end > begin).all(axis=2)
        return type(self)(begin[some], end[some] - np.uint64(1))

    def around(self, points: np.ndarray, radii: np.ndarray) -> Self:
        """Boxes around points of shape (n, arguments), of these radii in places, within the first of these boxes."""
        lo, hi = self.lo[0], self.hi[0]
        points = np.minimum(np.maximum(points, lo), hi)
        return type(self)(points - np.minimum(radii, points - lo), points + np.minimum(radii, hi - points))

    def sample(self, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of `count` boxes, each as often as any other, and a random point of each: (count, arguments)."""
        owners = np.arange(count) % self.size
        return owners, rng.integers(self.lo[owners], self.hi[owners], dtype=np.uint64, endpoint=True)
