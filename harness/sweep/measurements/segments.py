"""Segments: the runs of evenly spaced bit patterns that have one class, sign and binary exponent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import ml_dtypes
import numpy as np

from tf_opdiff.harness.device.request import Bits
from tf_opdiff.harness.store.records.error_profile import INF, NAN, NORMAL, SUBNORMAL, ZERO


@dataclass(frozen=True, eq=False)
class Segments:
    """The segments of inputs, in order.

    Attributes:
      starts: int64, the place of the first input of each segment.
      bins: int64, of shape (3, n): the class, sign and binary exponent of each segment, as in `ErrorProfile.bins`.
    """

    starts: np.ndarray
    bins: np.ndarray

    @classmethod
    def of(cls, inputs: Bits) -> Self:
        """The segments of inputs, at least one; none of them is empty."""
        first, bins = _of_dtype(inputs.dtype)
        places = -(-(first - inputs.lo) // inputs.step)
        here = np.flatnonzero((np.append(places[1:], inputs.size) > np.maximum(places, 0)) & (places < inputs.size))
        return cls(np.maximum(places[here], 0), bins[:, here])


@lru_cache
def _of_dtype(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """The first bit pattern, and the class, sign and exponent, of each segment of all bit patterns of a dtype."""
    info = ml_dtypes.finfo(dtype)
    mantissa, half = int(info.nmant), 1 << (8 * np.dtype(dtype).itemsize - 1)
    lowest, infinity = int(np.log2(float(info.smallest_normal))), half - (1 << int(info.nmant))
    rows = []
    for sign, begin in ((1, 0), (-1, half)):
        rows.append((begin, ZERO, sign, 0))
        rows += [(begin + (1 << bit), SUBNORMAL, sign, lowest - mantissa + bit) for bit in range(mantissa)]
        normals = range(1 << mantissa, infinity, 1 << mantissa)
        rows += [(begin + first, NORMAL, sign, lowest + n) for n, first in enumerate(normals)]
        rows += [(begin + infinity, INF, sign, 0), (begin + infinity + 1, NAN, 0, 0)]
    table = np.array(rows, np.int64).T
    return table[0], table[1:]
