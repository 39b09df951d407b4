"""Piece: evenly spaced bit patterns of a dtype, either all subnormal or none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import ml_dtypes
import numpy as np

from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.spec.spec import SWEEPS

NORMAL, SUBNORMAL = SWEEPS
DTYPES = ("float16", "bfloat16", "float32")


@dataclass(frozen=True)
class Piece:
    """Each `step`-th bit pattern from `lo` to `hi - 1`, and the recipe of the sweep that has them."""

    recipe: str
    lo: int
    hi: int
    step: int = 1

    def bits(self, dtype: str) -> Bits:
        """The inputs of the piece."""
        return Bits(dtype, self.lo, self.hi, self.step)


def patterns(dtype: str) -> int:
    """The number of bit patterns of a dtype."""
    return 1 << (8 * np.dtype(dtype).itemsize)


def next_multiple(number: int, step: int) -> int:
    """The smallest multiple of `step` that is not below a number."""
    return -(-number // step) * step


def pieces(dtype: str, lo: int, hi: int, step: int = 1) -> Iterator[Piece]:
    """Cuts a range of bit patterns where subnormals begin and end; the patterns are multiples of `step`."""
    negative, normal = patterns(dtype) // 2, 1 << ml_dtypes.finfo(dtype).nmant
    cuts = [lo, *(c for c in (1, normal, negative + 1, negative + normal) if lo < c < hi), hi]
    for a, b in pairwise(cuts):
        first = next_multiple(a, step)
        if first < b:
            yield Piece(SUBNORMAL if 0 < a % negative < normal else NORMAL, first, b, step)
