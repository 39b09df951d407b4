"""Numeric summaries in NumPy: counts of the classes of numbers in a tensor, as the debugger of TensorFlow has them."""

from __future__ import annotations

import numpy as np

#: The number of each dtype in `tensorflow/core/framework/types.proto`.
CODES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "uint16": 17,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
#: The number of sizes that a summary has room for.
_SIZES = 6


def summary(x: np.ndarray, code: int, mode: int, tensor: int) -> np.ndarray:
    """The summary of a tensor, as float32.

    Args:
      x: the tensor.
      code: the number of its dtype.
      mode: 2: whether a number is infinite or NaN; 3: the number of elements, of -inf, inf and NaN; 4: device, dtype,
        rank, and the numbers of elements, -inf, inf, NaN, negative numbers, zeros and positive numbers; 5: dtype, rank,
        elements and sizes; 8: -inf, inf and NaN, with 0 in place of each that is absent.
      tensor: the number of the tensor.
    """
    infinite = [np.isneginf(x), np.isposinf(x), np.isnan(x)] if x.dtype.kind == "f" else [np.zeros(x.shape, bool)] * 3
    counts = [int(np.sum(each)) for each in infinite]
    finite = x[~np.logical_or.reduce(infinite)]
    signs = [int(np.sum(each)) for each in (finite < 0, finite == 0, finite > 0)]
    sizes = [*x.shape[-_SIZES:], *(0,) * (_SIZES - x.ndim)]
    values = {
        2: [tensor, any(counts)],
        3: [tensor, x.size, *counts],
        4: [tensor, -1, code, x.ndim, x.size, *counts, *signs],
        5: [tensor, code, x.ndim, x.size, *sizes],
        8: [number if count else 0.0 for number, count in zip((-np.inf, np.inf, np.nan), counts, strict=True)],
    }
    return np.array(values[mode], np.float32)
