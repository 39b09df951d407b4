"""Piece: consecutive bit patterns of a dtype, either all of them subnormal or none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.spec import SWEEPS

NORMAL, SUBNORMAL = SWEEPS
DTYPES = ("float16", "bfloat16", "float32")


@dataclass(frozen=True)
class Piece:
    """The bit patterns from `lo` up to, not including, `hi`, and the recipe that they count for."""

    recipe: str
    lo: int
    hi: int


def patterns(dtype: str) -> int:
    """How many bit patterns a dtype has."""
    return 1 << (8 * np.dtype(dtype).itemsize)


def pieces(dtype: str, lo: int, hi: int) -> Iterator[Piece]:
    """A range cut where subnormals begin and end."""
    negative, normal = patterns(dtype) // 2, 1 << ml_dtypes.finfo(dtype).nmant
    cuts = [lo, *(c for c in (1, normal, negative + 1, negative + normal) if lo < c < hi), hi]
    for a, b in pairwise(cuts):
        yield Piece(SUBNORMAL if 0 < a % negative < normal else NORMAL, a, b)
